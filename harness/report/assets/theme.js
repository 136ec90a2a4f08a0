// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, until the button says otherwise. Runs before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const KEY = "ripbench-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // a browser that keeps nothing for files
    }
  };
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    const button = document.getElementById("theme");
    if (button) {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
    }
    document.dispatchEvent(new Event("themechange"));
  };
  const chosen = kept();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  system.addEventListener("change", tell);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try {
        localStorage.setItem(KEY, root.dataset.theme);
      } catch {
        // this page alone, then
      }
      tell();
    });
    tell();
  });
})();
