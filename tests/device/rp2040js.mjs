// SPDX-License-Identifier: Apache-2.0
// An independent RP2040: rp2040js runs our image. It has no boot ROM, so the vector table is entered by
// hand, as boot2 would. Reads one JSON object from standard input, prints one.
//   {mode: "talk", flash: hex, mailbox: hex, requests: [{bytes: hex, frames: N}, ...]}
//     sends each request when the one before it has been answered by its N frames; received bytes
//   {mode: "call", sram: [[address, hex], ...], registers: [r0, r1, r2], function: address}
//     calls a function in SRAM; cycles until it returns
import { createRequire } from 'module';
import fs from 'fs';

const require = createRequire(process.cwd() + '/');
const { RP2040, USBCDC, Simulator, ConsoleLogger, LogLevel } = require('rp2040js');
const job = JSON.parse(fs.readFileSync(0, 'utf8'));
const bytes = (hex) => Buffer.from(hex, 'hex');
const simulator = new Simulator();
const chip = simulator.rp2040;
chip.logger = new ConsoleLogger(LogLevel.Error);
const core = chip.core;
const LIMIT = 400_000_000; // instructions

function step() {
  simulator.clock.tick(core.executeInstruction() * 8); // ns a cycle at 125 MHz
}

function talk() {
  chip.flash.set(bytes(job.flash), 0);
  chip.sram.set(bytes(job.mailbox), 0);
  const flash = new DataView(chip.flash.buffer, chip.flash.byteOffset);
  core.VTOR = 0x10000100;
  core.SP = flash.getUint32(0x100, true);
  core.PC = flash.getUint32(0x104, true) & ~1;
  const host = new USBCDC(chip.usbCtrl);
  const received = [];
  let connected = false;
  let due = 0;
  let sent = 0;
  host.onDeviceConnected = () => { connected = true; };
  host.onSerialData = (data) => { received.push(...data); };
  const answered = () => received.filter((byte, n) => byte === 0 && n > 0 && received[n - 1]).length;
  for (let n = 0; n < LIMIT; n++) {
    step();
    if (n % 1000 || !connected) continue;
    if (answered() < due) continue;
    if (sent === job.requests.length) break;
    for (const byte of bytes(job.requests[sent].bytes)) host.sendSerialByte(byte);
    due += job.requests[sent].frames;
    sent++;
  }
  return { connected, received: Buffer.from(received).toString('hex') };
}

function call() {
  for (const [address, data] of job.sram) chip.sram.set(bytes(data), address - 0x20000000);
  job.registers.forEach((value, n) => { core.registers[n] = value; });
  const stop = 0x20000000;
  core.SP = 0x20041000;
  core.LR = stop | 1;
  core.PC = job.function & ~1;
  const start = core.cycles;
  for (let n = 0; n < LIMIT && core.PC !== stop; n++) core.executeInstruction();
  return { returned: core.PC === stop, cycles: core.cycles - start };
}

console.log(JSON.stringify(job.mode === 'talk' ? talk() : call()));
