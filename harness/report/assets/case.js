// SPDX-License-Identifier: Apache-2.0
// The charts of one case. All of their data is in the page; only text is made from it, never markup.
"use strict";
(() => {
  const METRICS = [
    { name: "cycles", label: "Cycles, warm", unit: "cycles", band: true },
    { name: "arena", label: "Arena", unit: "bytes" },
    { name: "stack", label: "Stack, peak", unit: "bytes" },
    { name: "flash", label: "Flash, image and pack", unit: "bytes" },
  ];
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const DAY = 24 * 60;
  const COMMIT = /^[0-9a-f]{7,64}$/;
  const grouped = (value) => value.toLocaleString("en-US").replaceAll(",", "\u202f");
  const make = (tag, text, cls) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (cls) made.className = cls;
    return made;
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const at = (column, index) => (typeof column === "number" ? column : column[index]);
  const date = (minutes) => new Date(minutes * 60000).toISOString().slice(0, 16).replace("T", " ");
  const percent = (ratio) => `${ratio > 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(2)} %`;

  const commitNode = (data, index, dirty) => {
    const commit = data.commits[index];
    const words = (commit.slice(0, 10) || "no commit") + (dirty && commit ? " + changes" : "");
    if (!data.links || !COMMIT.test(commit)) return make("span", words);
    const node = make("a", words);
    node.href = data.links.replace("{commit}", commit);
    node.rel = "noopener noreferrer";
    return node;
  };

  // What tells the series of a panel apart: only those parts that differ.
  const namesOf = (series) => {
    const parts = {
      plan: (s) => s.plan,
      kernels: (s) => s.kernels,
      chip: (s) => s.chip,
      clock: (s) => `${s.clock / 1e6} MHz`,
      toolchain: (s) => s.toolchain,
    };
    const differ = Object.values(parts).filter((part) => new Set(series.map(part)).size > 1);
    return series.map((s) => (differ.length ? differ : [parts.plan]).map((f) => f(s)).join(", "));
  };

  const short = (value) => {
    const size = Math.abs(value);
    if (size >= 1e9) return `${+(value / 1e9).toPrecision(6)} G`;
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(6)} M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(6)} k`;
    return String(value);
  };

  // of several ticks in one day the first alone
  const day = (seconds, before) => {
    const words = date(seconds / 60).slice(0, 10);
    return before !== undefined && date(before / 60).slice(0, 10) === words ? "" : words;
  };

  class Chart {
    constructor(data, panel, metric, names, place) {
      Object.assign(this, { data, panel, metric, names });
      this.figure = make("figure", undefined, "chart");
      this.caption = make("figcaption");
      this.caption.append(make("b", metric.label), ` (${metric.unit}, ${panel.kind})`);
      this.box = make("div", undefined, "plot");
      this.box.tabIndex = 0;
      this.box.setAttribute("role", "group");
      this.box.setAttribute(
        "aria-label",
        `${metric.label} on ${panel.board}, ${panel.kind}: arrow keys step through the runs`
      );
      this.readout = make("p", undefined, "readout");
      this.readout.setAttribute("aria-live", "polite");
      this.figure.append(this.caption, this.box, this.readout);
      place.append(this.figure);
      this.box.addEventListener("keydown", (event) => this.step(event));
    }

    // wanted: indices of the panel's series; days: of the newest, or 0 for all
    draw(wanted, days) {
      this.plot?.destroy();
      this.plot = null;
      const column = this.metric.name;
      wanted = wanted.filter((n) => this.panel.series[n][column] !== 0); // 0 bytes: not recorded
      this.wanted = wanted;
      this.figure.hidden = wanted.length === 0;
      if (this.figure.hidden) return;
      const newest = Math.max(...this.panel.series.map((s) => s.time[s.time.length - 1]));
      const from = days ? newest - days * DAY : 0;
      const tables = wanted.map((n) => this.table(this.panel.series[n], from));
      const joined = uPlot.join(tables.map((table) => table.columns));
      this.places = tables.map((t) => new Map(t.columns[0].map((x, i) => [x, t.places[i]])));
      if (!joined[0].length) {
        this.readout.textContent = "nothing in this range";
        return;
      }
      const options = this.options(
        tables.map((table) => table.band),
        tables.map((table) => table.places)
      );
      this.plot = new uPlot(options, joined, this.box);
      this.show(joined[0].length - 1);
    }

    table(series, from) {
      const places = series.time.map((_, i) => i).filter((i) => series.time[i] >= from);
      const column = (name) => places.map((i) => at(series[name], i));
      const x = places.map((i) => series.time[i] * 60);
      const low = column("low");
      const high = column("high");
      const band = Boolean(this.metric.band) && low.some((v, i) => v !== high[i]);
      const columns = [x, column(this.metric.name), ...(band ? [low, high] : [])];
      return { columns, places, band };
    }

    options(bands, places) {
      const width = Math.max(240, this.box.clientWidth);
      const ink = css("--ink");
      const grid = { stroke: css("--grid"), width: 1 };
      const series = [{}];
      const filled = [];
      bands.forEach((band, n) => {
        const number = this.wanted[n];
        const colour = css(`--series-${(number % 6) + 1}`);
        const dash = DASHES[Math.floor(number / 6) % DASHES.length];
        const points = { show: places[n].length <= width / 9, size: 5, fill: colour };
        series.push({ stroke: colour, width: 2, dash, points, spanGaps: true });
        if (!band) return;
        const none = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
        series.push(none, { ...none });
        filled.push({ series: [series.length - 1, series.length - 2], fill: `${colour}40` });
      });
      return {
        width,
        height: this.metric.name === "cycles" ? 300 : 180,
        series,
        bands: filled,
        legend: { show: false },
        tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "Etc/UTC"),
        cursor: { drag: { x: true, y: false } },
        scales: { y: { range: (_, low, high) => this.range(low, high) } },
        axes: [
          {
            stroke: ink,
            grid,
            ticks: grid,
            label: "day (UTC)",
            labelSize: 20,
            size: 30,
            space: 88,
            values: (_, values) => values.map((v, n) => day(v, values[n - 1])),
          },
          {
            stroke: ink,
            grid,
            ticks: grid,
            label: this.metric.unit,
            labelSize: 20,
            size: 78,
            values: (_, values) => values.map((v) => (Number.isInteger(v) ? short(v) : "")),
          },
        ],
        hooks: {
          draw: [(plot) => this.mark(plot)],
          setCursor: [(plot) => plot.cursor.idx !== null && this.show(plot.cursor.idx)],
        },
      };
    }

    // Never so close that one cycle fills the picture, never a flat line at the edge.
    range(low, high) {
      const room = Math.max((high - low) * 0.15, Math.abs(high) * 0.002, 2);
      return [Math.max(0, Math.floor(low - room)), Math.ceil(high + room)];
    }

    mark(plot) {
      if (this.metric.name !== "cycles") return;
      const { ctx } = plot;
      const scale = devicePixelRatio;
      ctx.save();
      ctx.font = `${12 * scale}px system-ui, sans-serif`;
      this.wanted.forEach((number) => {
        const series = this.panel.series[number];
        for (const [index, ratio] of series.changes) {
          const x = plot.valToPos(series.time[index] * 60, "x", true);
          if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
          const colour = css(ratio > 1 ? "--bad" : "--good");
          ctx.strokeStyle = ctx.fillStyle = colour;
          ctx.lineWidth = scale;
          ctx.setLineDash([4 * scale, 4 * scale]);
          ctx.beginPath();
          ctx.moveTo(x, plot.bbox.top);
          ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
          ctx.stroke();
          const words = `${ratio > 1 ? "▲" : "▼"} ${percent(ratio)}`;
          const wide = ctx.measureText(words).width + 6 * scale;
          const right = x + wide < plot.bbox.left + plot.bbox.width;
          ctx.textAlign = right ? "left" : "right";
          ctx.fillText(words, x + (right ? 6 : -6) * scale, plot.bbox.top + 12 * scale);
        }
      });
      ctx.restore();
    }

    step(event) {
      const last = this.plot ? this.plot.data[0].length - 1 : -1;
      const here = this.index ?? last;
      const moves = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: last };
      if (last < 0 || !(event.key in moves)) return;
      event.preventDefault();
      const index = Math.min(last, Math.max(0, moves[event.key]));
      const left = this.plot.valToPos(this.plot.data[0][index], "x");
      this.plot.setCursor({ left, top: this.plot.bbox.height / devicePixelRatio / 2 });
      this.show(index);
    }

    show(index) {
      this.index = index;
      const x = this.plot ? this.plot.data[0][index] : undefined;
      if (x === undefined) return;
      const parts = [make("span", `${date(x / 60)} UTC`)];
      this.wanted.forEach((number, n) => {
        const place = this.places[n].get(x);
        if (place === undefined) return;
        const series = this.panel.series[number];
        const value = grouped(at(series[this.metric.name], place));
        const part = make("span", undefined, "value");
        part.append(
          make("i", undefined, `key key-${(number % 6) + 1}`),
          `${this.names[number]}: ${value} ${this.metric.unit} (${this.panel.kind})`,
          at(series.ok, place) ? "" : ", FAILED",
          place < series.weekly ? ", of a week" : "",
          " "
        );
        part.append(commitNode(this.data, at(series.commit, place), at(series.dirty, place)));
        parts.push(part);
      });
      this.readout.replaceChildren(...parts);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const place = document.getElementById("charts");
    const form = document.getElementById("filters");
    const controls = Object.fromEntries(["board", "plan", "range"].map((n) => [n, form.elements[n]]));
    const panels = data.panels.map((panel) => {
      const section = make("section", undefined, "panel");
      const heading = make("h3", panel.board);
      heading.append(" ", make("span", panel.kind, `kind kind-${panel.kind}`));
      const names = namesOf(panel.series);
      const legend = make("ul", undefined, "legend");
      names.forEach((name, n) => {
        const item = make("li");
        item.append(make("i", undefined, `key key-${(n % 6) + 1}`), name);
        legend.append(item);
      });
      const charts = make("div", undefined, "charts");
      section.append(heading, legend, charts);
      place.append(section);
      return { panel, section, legend, charts: METRICS.map((m) => new Chart(data, panel, m, names, charts)) };
    });
    const options = (control, values) => {
      for (const value of [...new Set(values)].sort()) {
        const option = make("option", value);
        option.value = value;
        control.append(option);
      }
    };
    options(controls.board, data.panels.map((panel) => panel.board));
    options(controls.plan, data.panels.flatMap((panel) => panel.series.map((s) => s.plan)));
    const draw = () => {
      for (const { panel, section, legend, charts } of panels) {
        section.hidden = controls.board.value !== "" && controls.board.value !== panel.board;
        if (section.hidden) continue;
        const wanted = panel.series
          .map((_, n) => n)
          .filter((n) => controls.plan.value === "" || panel.series[n].plan === controls.plan.value);
        [...legend.children].forEach((item, n) => (item.hidden = !wanted.includes(n)));
        for (const chart of charts) chart.draw(wanted, Number(controls.range.value));
      }
      document.documentElement.dataset.drawn = "yes";
    };
    form.hidden = false;
    form.addEventListener("input", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("themechange", draw);
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) draw();
      width = innerWidth;
    });
    draw();
  });
})();
