"use strict";
// The theme: the system's, until the button says otherwise. Storage may be closed to files.
const root = document.documentElement;
const wantsDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wantsDark.matches);
try { root.dataset.theme = localStorage.getItem("uids-theme") || ""; } catch { /* the system's then */ }
if (!root.dataset.theme) delete root.dataset.theme;

function setUpTheme() {
  const button = document.getElementById("theme");
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("uids-theme", root.dataset.theme); } catch { /* for this visit only */ }
    name();
  });
  wantsDark.addEventListener("change", name);
  name();
}

// Tables. Each body holds one row, and the row's reasons below it, so that they move together.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?$/i;
const bare = (text) => text.trim().replace(/[,\s]/g, "").replace("−", "-");
const cellText = (body, column) => body.rows[0].cells[column]?.textContent.trim() ?? "";

function compare(a, b, numeric) {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;  // what is not known is last, either way
  return numeric ? parseFloat(bare(a)) - parseFloat(bare(b)) : a.localeCompare(b, undefined, { numeric: true });
}

function sortTable(table, head, column) {
  const bodies = [...table.tBodies];
  const texts = new Map(bodies.map((body) => [body, cellText(body, column)]));
  const numeric = [...texts.values()].every((text) => text === "" || NUMBER.test(bare(text)));
  const before = head.getAttribute("aria-sort");
  const down = before ? before === "ascending" : numeric;  // of numbers the largest first
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  bodies.sort((one, other) => {
    const [a, b] = [texts.get(one), texts.get(other)];
    return compare(a, b, numeric) * (down && a !== "" && b !== "" ? -1 : 1);
  });
  table.append(...bodies);
}

function setUpFilter(place, table) {
  const find = place.querySelector(".find");
  if (!find) return;
  const [input, output] = [find.querySelector("input"), find.querySelector("output")];
  find.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const body of table.tBodies) {
      const text = body.rows[0].textContent.toLowerCase();
      body.hidden = !words.every((word) => text.includes(word));
      shown += !body.hidden;
    }
    output.textContent = words.length ? `${shown} of ${table.tBodies.length}` : "";
  });
}

// Not every system shows a scroll bar: words say that there are more columns.
function tellOfMore(box) {
  const hint = document.createElement("p");
  hint.className = "sideways";
  hint.textContent = "Scroll sideways for more columns →";
  box.before(hint);
  const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
  new ResizeObserver(look).observe(box);
  look();
}

function setUpTables() {
  for (const place of document.querySelectorAll(".sortable")) {
    const table = place.querySelector("table");
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortTable(table, head, column));
      head.append(button);
    });
    setUpFilter(place, table);
  }
  document.querySelectorAll(".table > .box").forEach(tellOfMore);
  for (const button of document.querySelectorAll(".why")) {
    const reason = button.closest("tbody").rows[1];
    const open = (yes) => {
      reason.hidden = !yes;
      button.setAttribute("aria-expanded", yes);
    };
    button.addEventListener("click", () => open(reason.hidden));
    open(false);
  }
}

// Charts. The colours are the page's own variables: they follow the theme by themselves.
const axis = {
  labelColor: "var(--text)", titleColor: "var(--text)", gridColor: "var(--line)", domainColor: "var(--faint)",
  tickColor: "var(--faint)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8,
};
const options = {
  mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
  config: {
    background: "transparent", font: "system-ui, sans-serif", axis, view: { stroke: null },
    line: { strokeWidth: 2 }, rule: { strokeWidth: 1.5 },
  },
};

async function library() {
  const packed = Uint8Array.from(atob(document.getElementById("charts").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

async function draw(figure) {
  if (figure.classList.contains("drawn") || figure.offsetParent === null) return;  // drawn, or not in sight
  figure.classList.add("drawn");
  figure.closest(".group")?.classList.add("drawn");
  const spec = JSON.parse(figure.querySelector("script").textContent);
  await window.vegaEmbed(figure.querySelector(".plot"), spec, options);
}

async function setUpCharts() {
  const figures = [...document.querySelectorAll("figure.chart")];
  if (!figures.length || typeof DecompressionStream === "undefined") return;  // the pictures stay
  await library();
  for (const select of document.querySelectorAll("select.key")) {
    const groups = [...select.closest(".groups").querySelectorAll(".group")];
    select.closest("label").hidden = false;
    const choose = () => {
      groups.forEach((group, place) => { group.hidden = place !== select.selectedIndex; });
      return Promise.all(figures.map(draw));
    };
    select.addEventListener("change", choose);
    await choose();
  }
  await Promise.all(figures.map(draw));
  root.dataset.charts = "drawn";
}

document.addEventListener("DOMContentLoaded", () => {
  setUpTheme();
  setUpTables();
  setUpCharts();
});
