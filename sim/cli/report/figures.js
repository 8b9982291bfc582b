// The questions of a report. Every number comes from the runs' own counters.

// Units of a run, the one that was asked for first.
function unitsOf(run) {
  const units = [{ label: run.unit_label, unit: run.report }];
  for (const [name, unit] of Object.entries(run.report.baselines || {})) {
    if (unit.unit !== run.report.unit) {
      units.push({ label: run.baseline_labels[name], unit });
    }
  }
  return units;
}

const FAMILIES = { sampled: "adders only", dense: "dense int8", dense_fp16: "dense fp16",
  topk: "top-k" };
const mid = (unit) => unit.energy.total_pj.mid;
const bitsOf = (unit) => 8 * unit.traffic.total_bytes;
const partOf = (unit, name) => (unit.energy.parts_pj[name] ? unit.energy.parts_pj[name].mid : 0);

addSection("energy-parts", "Where does the energy go?", (run) => {
  const units = unitsOf(run);
  const names = Object.keys(run.report.energy.parts_pj)
    .filter((name) => units.some(({ unit }) => partOf(unit, name) > 0));
  const most = (name) => Math.max(...units.map(({ unit }) => partOf(unit, name) / mid(unit)));
  const shown = names.filter((name) => most(name) >= 0.01).sort((a, b) => most(b) - most(a));
  const rest = names.filter((name) => !shown.includes(name));
  const bar = (name, values) => ({ type: "bar", name, x: units.map((u) => u.label),
    y: values.map((v) => v / 1e6), hovertemplate: "%{x}<br>" + name + ": %{y:.4g} uJ<extra></extra>" });
  const traces = shown.map((name) => bar(name, units.map(({ unit }) => partOf(unit, name))));
  if (rest.length) {
    traces.push(bar(`${rest.length} smaller parts`, units.map(({ unit }) =>
      rest.reduce((sum, name) => sum + partOf(unit, name), 0))));
  }
  const dram = names.filter((name) => name.startsWith("dram_"))
    .reduce((sum, name) => sum + partOf(run.report, name), 0);
  const totals = units.map(({ label, unit }) => `${label} ${si(mid(unit), "pJ")}`).join(", ");
  return {
    answer: `${totals}. DRAM is ${percent(dram / mid(run.report))} of the energy of ${units[0].label}.`,
    traces,
    layout: { barmode: "stack", yaxis: { title: "energy, uJ (mid estimate)" } },
    note: "Ranges: " + units.map(({ label, unit }) => `${label} ${si(unit.energy.total_pj.low, "pJ")} ` +
      `to ${si(unit.energy.total_pj.high, "pJ")}`).join("; ") + ".",
    columns: ["part, pJ", ...units.map((u) => u.label)],
    rows: [...names, "total"].map((name) => [name, ...units.map(({ unit }) =>
      name === "total" ? mid(unit) : partOf(unit, name))]),
  };
});

addSection("latency-phases", "Where does the time go?", (run) => {
  const units = unitsOf(run);
  const rows = [];
  for (const { label, unit } of units) {
    for (const [block, cycles] of Object.entries(unit.blocks)) {
      const idle = unit.latency.cycles - cycles.busy_cycles - cycles.starved_cycles -
        cycles.blocked_cycles;
      rows.push([label, block, cycles.busy_cycles, cycles.starved_cycles, cycles.blocked_cycles,
        idle, unit.latency.cycles]);
    }
    const busy = unit.memory.busy_fraction * unit.latency.cycles;
    rows.push([label, "memory bandwidth", busy, null, null, unit.latency.cycles - busy,
      unit.latency.cycles]);
  }
  const kinds = [["busy", 2, COLOURS[0]], ["starved", 3, "#b9c2cd"], ["blocked", 4, COLOURS[1]]];
  const own = rows.filter((row) => row[0] === units[0].label).reverse();
  const traces = kinds.map(([name, column, colour]) => ({ type: "bar", orientation: "h", name,
    y: own.map((row) => row[1]), x: own.map((row) => 100 * (row[column] || 0) / row[6]),
    marker: { color: colour }, hovertemplate: "%{y} " + name + ": %{x:.1f} %<extra></extra>" }));
  const first = own.reduce((a, b) => (b[2] > a[2] ? b : a));
  return {
    answer: units.map(({ label, unit }) => `${label} ${si(unit.latency.ns, "ns")}`).join(", ") +
      `. In ${units[0].label}, ${first[1]} is busy longest: ${percent(first[2] / first[6])} of the run.`,
    traces,
    layout: { barmode: "stack", xaxis: { title: `% of the run of ${units[0].label}`, range: [0, 100] },
      yaxis: {}, margin: { l: 130, r: 20, t: 20, b: 50 } },
    note: "Phases overlap: each block works on what the one before it hands over. Starved waits for " +
      "input, blocked for room or memory; the rest is before its first and after its last work.",
    columns: ["unit", "block", "busy, cycles", "starved, cycles", "blocked, cycles", "idle, cycles",
      "run, cycles"],
    rows,
  };
});

// Additions of an adder-only unit, multiply-accumulates of the others; and the most in a ns.
function workOf(unit, report) {
  const configuration = report.configuration;
  const perNs = configuration.clock_mhz / 1000;
  if (unit.unit !== "sampled") {
    return { operations: unit.operations.multiplies,
      peak: configuration.baselines.dense_multipliers * perNs, kind: "multiply-accumulates" };
  }
  const group = report.input.query_heads / report.input.kv_heads;
  const lanes = configuration.unit;
  return { operations: unit.operations.gather_adds + unit.operations.value_adds_executed,
    peak: lanes.key_lanes * lanes.digit_lanes * group * perNs, kind: "additions" };
}

addSection("roofline", "What could the unit reach at best?", (run) => {
  const memory = run.report.configuration.memory;
  const bandwidth = memory.channels * memory.channel_gb_per_s;
  const points = unitsOf(run).map(({ label, unit }) => {
    const work = workOf(unit, run.report);
    const intensity = work.operations / unit.traffic.total_bytes;
    const roof = Math.min(work.peak, intensity * bandwidth);
    return { label, ...work, intensity, reached: work.operations / unit.latency.ns, roof };
  });
  const xs = points.map((p) => p.intensity).concat(points.map((p) => p.peak / bandwidth));
  const from = Math.min(...xs) / 3;
  const to = Math.max(...xs) * 3;
  const roofs = new Map(points.map((p) => [p.kind, p.peak]));
  const traces = [...roofs].map(([kind, peak], i) => ({ type: "scatter", mode: "lines",
    name: `${plain(peak)} ${kind} a ns`, x: [from, peak / bandwidth, to],
    y: [from * bandwidth, peak, peak], line: { dash: i ? "dash" : "solid", color: "#8c8c8c" } }));
  points.forEach((p, i) => traces.push({ type: "scatter", mode: "markers", name: p.label,
    x: [p.intensity], y: [p.reached], marker: { size: 12, color: COLOURS[i] },
    hovertemplate: "%{x:.3g} a byte, %{y:.4g} a ns<extra>" + p.label + "</extra>" }));
  return {
    answer: points.map((p) => `${p.label} reaches ${percent(p.reached / p.roof)} of its roof, ` +
      (p.roof < p.peak ? "the memory's" : "its lanes'")).join("; ") + ".",
    traces,
    layout: { xaxis: { type: "log", title: "operations a byte moved" },
      yaxis: { type: "log", title: "operations a ns" } },
    note: `Memory: ${plain(bandwidth)} GB/s. An operation is an addition of a shifted key or value in ` +
      "the adder-only unit, a multiply-accumulate in the others: compare points with their own roof.",
    columns: ["unit", "operations", "kind", "operations a byte", "operations a ns", "lanes, a ns",
      "roof, a ns"],
    rows: points.map((p) => [p.label, p.operations, p.kind, p.intensity, p.reached, p.peak, p.roof]),
  };
});

// Runs of the DRAM model whose bytes are value rows for the most part, by timing and row.
function gathers() {
  const rows = [];
  for (const { report } of data.runs) {
    const { memory } = report.configuration;
    if (report.unit !== "sampled" || memory.model !== "dram") continue;
    if (report.traffic.value_bytes < 0.75 * report.traffic.total_bytes) continue;
    const bytes = Math.ceil(report.input.head_dimension * report.configuration.system.value_bits / 8);
    const useful = report.samples.row_reads * bytes;
    const speed = useful / report.latency.ns;
    const dram = Object.keys(report.energy.parts_pj).filter((name) => name.startsWith("dram_"))
      .reduce((sum, name) => sum + partOf(report, name), 0);
    rows.push([memory.timing, bytes, speed / (memory.channels * memory.channel_gb_per_s), speed,
      dram / (8 * useful), report.memory.limit || ""]);
  }
  return rows.sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] < b[0] ? -1 : 1));
}

addSection("gather-knee", "How long must a row be for a gather to use the memory?", () => {
  const rows = gathers();
  if (!rows.length) {
    return { reason: "no run has the DRAM model (memory.model: dram) and value rows as three quarters " +
      "of its bytes. docs/report.md says how to sweep that." };
  }
  const kinds = [...new Set(rows.map((row) => row[0]))];
  const traces = [];
  const knees = kinds.map((kind, i) => {
    const own = rows.filter((row) => row[0] === kind);
    const line = { type: "scatter", mode: "lines+markers", x: own.map((row) => row[1]),
      name: kind, legendgroup: kind, marker: { color: COLOURS[i] }, line: { color: COLOURS[i] } };
    traces.push({ ...line, y: own.map((row) => 100 * row[2]) });
    traces.push({ ...line, y: own.map((row) => row[4]), yaxis: "y2", xaxis: "x2",
      showlegend: false });
    const best = Math.max(...own.map((row) => row[2]));
    return `${kind} ${own.find((row) => row[2] >= 0.9 * best)[1]} bytes`;
  });
  const side = sideBySide();
  const ticks = { type: "log", title: "bytes of a value row",
    tickvals: [...new Set(rows.map((row) => row[1]))] };
  return {
    answer: "Shortest row of these runs with nine tenths of the best bandwidth: " +
      knees.join(", ") + ".",
    traces,
    layout: { ...side, xaxis: { ...side.xaxis, ...ticks },
      yaxis: { ...side.yaxis, title: "rows, % of peak bandwidth", rangemode: "tozero" },
      xaxis2: { ...side.xaxis2, ...ticks },
      yaxis2: { ...side.yaxis2, title: "DRAM, pJ a bit of a row", rangemode: "tozero" } },
    note: "Bytes of rows that the unit asked for, over the time and the DRAM energy of the whole run: what an " +
      "access reads beyond a row, and the keys, count as cost. The unit asks for rows in rising " +
      "order, so this is its gather and not one of random rows.",
    columns: ["timing", "row, bytes", "fraction of peak", "GB/s", "pJ a bit", "memory limited by"],
    rows,
  };
});

// What the run worked on, less its seed: costs of different work do not compare.
function workload(run) {
  const { input } = run.report;
  return JSON.stringify([input.kind, input.sha256, input.model, input.layers, input.context,
    input.query_heads, input.kv_heads, input.head_dimension]);
}

addSection("pareto", "What does accuracy cost?", (chosen) => {
  const seen = new Set();
  const points = [];
  const runs = data.runs.filter((run) => workload(run) === workload(chosen));
  for (const run of runs) {
    unitsOf(run).forEach(({ label, unit }, i) => {
      const error = unit.accuracy.relative_l2;
      if (error === null) return;
      const point = { label, run: run.label, family: unit.unit, error, energy: mid(unit),
        latency: unit.latency.ns };
      const key = JSON.stringify([label, error, point.energy, point.latency]);
      if (i && seen.has(key)) return;  // a baseline that many runs share
      seen.add(key);
      points.push(point);
    });
  }
  if (points.length < 2) return { reason: "fewer than two units have an error." };
  const families = [...new Set(points.map((p) => p.family))];
  const traces = [];
  families.forEach((family, i) => {
    const own = points.filter((p) => p.family === family);
    const common = { type: "scatter", mode: "markers", name: FAMILIES[family], legendgroup: family,
      x: own.map((p) => p.error), text: own.map((p) => `${p.label}<br>${p.run}`),
      marker: { color: COLOURS[i], size: points.length > 200 ? 5 : 9, opacity: 0.8 },
      hovertemplate: "%{text}<br>error %{x:.4g}, %{y:.4g}<extra></extra>" };
    traces.push({ ...common, y: own.map((p) => p.energy / 1e6) });
    traces.push({ ...common, y: own.map((p) => p.latency / 1e3), xaxis: "x2", yaxis: "y2",
      showlegend: false });
  });
  for (const [key, scale, axes] of [["energy", 1e6, {}],
    ["latency", 1e3, { xaxis: "x2", yaxis: "y2", showlegend: false }]]) {
    const front = paretoFront(points, "error", key);
    traces.push({ type: "scatter", mode: "lines", name: "best for its error", hoverinfo: "skip",
      x: front.map((p) => p.error), y: front.map((p) => p[key] / scale),
      line: { shape: "hv", color: "#8c8c8c", width: 1 }, ...axes });
  }
  const both = points.filter((p) => paretoFront(points, "error", "energy").includes(p) &&
    paretoFront(points, "error", "latency").includes(p));
  const text = both.slice(0, 6).map((p) => `${p.label} (error ${plain(p.error)}, ` +
    `${si(p.energy, "pJ")}, ${si(p.latency, "ns")})`);
  const side = sideBySide();
  return {
    answer: (text.length ? "Best for their error in energy and in latency: " + text.join("; ")
      : "None is best for its error in energy and in latency") +
      (both.length > 6 ? `; and ${both.length - 6} more.` : "."),
    traces,
    layout: { ...side, xaxis: { ...side.xaxis, type: "log", title: "error, relative L2" },
      yaxis: { ...side.yaxis, type: "log", title: "energy, uJ" },
      xaxis2: { ...side.xaxis2, type: "log", title: "error, relative L2" },
      yaxis2: { ...side.yaxis2, type: "log", title: "latency, us" } },
    note: (runs.length < data.runs.length
      ? `The ${runs.length} of ${data.runs.length} runs with the input of the chosen one. ` : "") +
      "Down and to the left is better. Error is that of the outputs against float64 attention.",
    columns: ["unit", "run", "error, relative L2", "energy, pJ", "latency, ns"],
    rows: points.map((p) => [p.label, p.run, p.error, p.energy, p.latency]),
  };
});

addSection("power", "When is the energy drawn?", (run) => {
  const units = unitsOf(run).filter(({ unit }) => unit.energy.windows);
  if (!units.length) {
    return { reason: `of ${data.runs.length} runs the page keeps the slices of time of the first ` +
      `${data.runs_with_windows} only; choose one of them.` };
  }
  const rows = [];
  const traces = units.map(({ label, unit }) => {
    const { duration_ns: durations, power_mw: powers } = unit.energy.windows;
    let time = 0;
    const x = [];
    const y = [];
    durations.forEach((duration, i) => {
      rows.push([label, time, duration, powers[i]]);
      x.push(time / 1e3);
      y.push(powers[i]);
      time += duration;
    });
    x.push(time / 1e3);
    y.push(powers[powers.length - 1]);
    return { type: "scatter", mode: "lines", line: { shape: "hv", width: 1.5 }, name: label, x, y };
  });
  return {
    answer: "Mean power: " + units.map(({ label, unit }) =>
      `${label} ${plain(unit.energy.average_power_mw.mid)} mW`).join(", ") + ".",
    traces,
    layout: { xaxis: { title: "time, us" }, yaxis: { title: "power, mW", rangemode: "tozero" } },
    columns: ["unit", "start, ns", "duration, ns", "power, mW"],
    rows,
  };
});
