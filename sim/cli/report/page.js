"use strict";
// What every section is made of: text, a figure, a table that can be copied.

const data = JSON.parse(document.getElementById("data").textContent);
const problems = [];
window.addEventListener("error", (event) => problems.push(event.message));

// Colours that people with any colour vision tell apart (Okabe and Ito).
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c",
  "#b3a200", "#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#aa4499",
  "#661100"];

function element(name, text, attributes) {
  const node = document.createElement(name);
  if (text !== undefined && text !== null) node.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  return node;
}

// Four significant digits, with a unit of the right size: 12300 pJ is "12.3 nJ".
function si(value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return "-";
  if (value === 0) return "0 " + unit;
  const steps = { ns: ["ns", "us", "ms", "s"], pJ: ["pJ", "nJ", "uJ", "mJ", "J"],
    bytes: ["B", "kB", "MB", "GB", "TB"] }[unit];
  let step = 0;
  let scaled = value;
  while (steps && Math.abs(scaled) >= 1000 && step + 1 < steps.length) {
    scaled /= 1000;
    ++step;
  }
  return Number(scaled.toPrecision(4)) + " " + (steps ? steps[step] : unit);
}

function percent(value) {
  return (100 * value).toFixed(1) + " %";
}

// Any number: four digits, no more than needed.
function plain(value) {
  if (typeof value !== "number") return value === null || value === undefined ? "" : String(value);
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

function copyText(text, button) {
  const done = () => {
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  };
  const byHand = () => {
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  // Browsers refuse the clipboard to some pages of the file system.
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}

// Rows of cells; numbers are shown short and copied whole, separated by tabs.
function tableOf(columns, rows, name) {
  const box = element("details", null, { "data-table": name });
  box.append(element("summary", `Table: ${rows.length} rows`));
  const button = element("button", "copy", { type: "button" });
  button.addEventListener("click", () => {
    const lines = [columns, ...rows].map((row) => row.map((cell) => cell ?? "").join("\t"));
    copyText(lines.join("\n") + "\n", button);
  });
  const wrapper = element("div", null, { class: "table" });
  const table = element("table");
  const head = element("tr");
  const isNumber = columns.map((_, c) => rows.some((row) => typeof row[c] === "number"));
  columns.forEach((column, c) => {
    head.append(element("th", column, isNumber[c] ? { class: "number" } : {}));
  });
  table.append(element("thead"));
  table.tHead.append(head);
  const body = element("tbody");
  for (const row of rows) {
    const line = element("tr");
    row.forEach((cell, c) => {
      line.append(element("td", plain(cell), isNumber[c] ? { class: "number" } : {}));
    });
    body.append(line);
  }
  table.append(body);
  wrapper.append(table);
  box.append(button, wrapper);
  return box;
}

function layoutOf(layout) {
  const narrow = window.innerWidth < 600;
  const base = {
    font: { family: "system-ui, DejaVu Sans, sans-serif", size: narrow ? 11 : 13,
      color: "#1c2430" },
    margin: { l: narrow ? 52 : 70, r: narrow ? 10 : 20, t: 20, b: 50 },
    colorway: COLOURS, paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: "closest",
    legend: { orientation: "h", x: 0, xanchor: "left", y: narrow ? -0.35 : -0.22, yanchor: "top",
      traceorder: "normal" },
    height: narrow ? 380 : 440, autosize: true,
  };
  const axes = { gridcolor: "#e6eaef", zerolinecolor: "#c4ccd6", automargin: true };
  const result = Object.assign(base, layout);
  for (const name of Object.keys(result)) {
    if (!/^[xy]axis/.test(name)) continue;
    // Of a logarithmic axis 1, 2 and 5 alone: all nine digits do not fit.
    const log = result[name].type === "log" ? { dtick: "D2", exponentformat: "none" } : {};
    result[name] = Object.assign({ separatethousands: true, exponentformat: "none" }, axes, log,
      result[name]);
    if (result[name].title) result[name].title = { text: result[name].title, standoff: 12 };
  }
  return result;
}

// A section: the question, the answer in one sentence, the figure, the numbers.
// `make` returns {answer, traces, layout, columns, rows, note} or {reason} why there is nothing.
// Sections of one run are made again when another run is chosen.
const sections = [];
function addSection(id, question, make) {
  sections.push({ id, question, make, node: element("section", null, { id }) });
}

function drawSection(section, run) {
  const { node, id } = section;
  node.replaceChildren(element("h2", section.question));
  const made = section.make(run);
  node.dataset.state = made.reason ? "left out" : "drawn";
  if (made.reason) {
    node.append(element("p", "Left out: " + made.reason, { class: "reason" }));
    return Promise.resolve();
  }
  node.append(element("p", made.answer));
  const figure = element("div", null, { class: "figure", "data-figure": id });
  node.append(figure);
  if (made.note) node.append(element("p", made.note, { class: "note" }));
  if (made.rows) node.append(tableOf(made.columns, made.rows, id));
  return Plotly.newPlot(figure, made.traces, layoutOf(made.layout),
    { responsive: true, displaylogo: false, displayModeBar: window.innerWidth >= 600 });
}

function drawAll(run) {
  return Promise.all(sections.map((section) => drawSection(section, run)));
}

function makePage() {
  document.title = data.title;
  document.querySelector("h1").textContent = data.title;
  document.getElementById("about").textContent = data.about;
  const main = document.querySelector("main");
  const contents = document.getElementById("contents");
  const chooser = element("div", null, { class: "chooser" });
  const select = element("select", null, { "aria-label": "Run" });
  data.runs.forEach((run, index) => select.append(element("option", run.label, { value: index })));
  chooser.append(element("label", "Run: "), select);
  if (data.runs.length > 1) main.append(chooser);
  for (const section of sections) {
    main.append(section.node);
    contents.append(element("a", section.question, { href: "#" + section.id }));
  }
  select.addEventListener("change", () => drawAll(data.runs[Number(select.value)]));
  const footer = document.getElementById("provenance");
  footer.append(element("p", data.program));
  const list = element("details");
  list.append(element("summary", "Commands that repeat the runs"));
  for (const run of data.runs.slice(0, 200)) {
    const line = element("p");
    line.append(element("code", run.report.provenance.command));
    list.append(line);
  }
  footer.append(list);
  drawAll(data.runs[0]).then(() => {
    document.body.dataset.problems = problems.join("; ");
    document.body.dataset.ready = "yes";
  }, (error) => {
    document.body.dataset.problems = problems.concat(String(error)).join("; ");
    throw error;
  });
}
