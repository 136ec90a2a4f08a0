// SPDX-License-Identifier: Apache-2.0
// Filters of tables: a row is shown when every filter agrees. Filters are `[data-filter=NAME]`, rows
// `[data-row]` with the same names as data attributes; the text filter searches a row's words.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("filters");
  if (!form) return;
  const rows = [...document.querySelectorAll("[data-row]")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const count = document.getElementById("count");
  const controls = [...form.querySelectorAll("[data-filter]")];
  const apply = () => {
    const wanted = controls
      .filter((control) => control.value !== "")
      .map((control) => [control.dataset.filter, control.value]);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !wanted.every(([name, value]) =>
        name === "text" ? texts.get(row).includes(value.toLowerCase()) : row.dataset[name] === value
      );
      if (!row.hidden) shown += 1;
    }
    for (const part of document.querySelectorAll("[data-part]")) {
      part.hidden = !part.querySelector("[data-row]:not([hidden])");
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("button[data-board]")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      for (const control of controls) {
        const name = control.dataset.filter;
        control.value = name === "board" || name === "suite" ? button.dataset[name] : "";
      }
      apply();
      form.scrollIntoView();
      controls[0].focus();
    });
  }
  apply(); // a browser may have kept what was chosen before
});
