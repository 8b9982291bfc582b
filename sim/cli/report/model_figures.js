// The questions of a report of decode steps of whole models.

// Methods of a result, in the order of tables.
function methodsOf(run) {
  return Object.entries(run.report.methods).map(([name, method]) =>
    ({ name, label: method.title, method, step: method.step }));
}

const batchOf = (run) => run.report.requests.batch;
const longestOf = (run) => Math.max(...run.report.requests.lengths);
const isEven = (run) => new Set(run.report.requests.lengths).size === 1;
const energyOf = (step) => step.energy_pj.total.mid;
const scaled = (estimate, factor) => estimate.value * factor;
// Half of a 95 % interval; nothing where one layer alone was simulated.
const halfOf = (estimate, factor) => (estimate.ci95 === null ? null : estimate.ci95 * factor);
const plusMinus = (half, text) => (half === null ? " +- unknown" : half > 0 ? ` +- ${text(half)}` : "");

// Tokens a second, and how far the interval of the step's time reaches to either side.
function speedOf(run, { method, step }) {
  const { value, ci95 } = step.latency_ns;
  const tokens = batchOf(run) * 1e9;
  return { value: method.tokens_per_s,
    more: ci95 !== null && ci95 < value ? tokens / (value - ci95) - tokens / value : null,
    less: ci95 === null ? null : tokens / value - tokens / (value + ci95) };
}

function errorBars(more, less) {
  const given = more.some((x) => x > 0) || less.some((x) => x > 0);
  return { type: "data", symmetric: false, array: more.map((x) => x || 0),
    arrayminus: less.map((x) => x || 0), visible: given, thickness: 1.5 };
}

addSection("model-methods", "How many tokens a second, at how many joules?", (run) => {
  const methods = methodsOf(run);
  const perToken = 1 / batchOf(run);
  const speeds = methods.map((m) => speedOf(run, m));
  const energies = methods.map(({ step }) => scaled(energyOf(step), perToken));
  const halves = methods.map(({ step }) => halfOf(energyOf(step), perToken));
  const names = methods.map((m) => m.label);
  const colours = methods.map((_, i) => COLOURS[i]);
  const side = sideBySide();
  const fastest = speeds.reduce((best, s, i) => (s.value > speeds[best].value ? i : best), 0);
  const leanest = energies.reduce((best, e, i) => (e < energies[best] ? i : best), 0);
  const against = (i, key) => {
    const ratio = methods[i].method.relative_to_dense[key];
    return ratio === null || methods[i].name === "dense" ? "" : ` (${plain(ratio)} of dense int8)`;
  };
  return {
    answer: `Fastest: ${names[fastest]}, ${plain(speeds[fastest].value)} tokens/s` +
      `${plusMinus(speeds[fastest].less, plain)}, in ${si(methods[fastest].step.latency_ns.value, "ns")} a step` +
      `${against(fastest, "latency")}. Least energy: ${names[leanest]}, ` +
      `${si(energies[leanest], "pJ")} a token${plusMinus(halves[leanest], (x) => si(x, "pJ"))}` +
      `${against(leanest, "energy")}.`,
    traces: [
      { type: "bar", x: names, y: speeds.map((s) => s.value), marker: { color: colours },
        error_y: errorBars(speeds.map((s) => s.more), speeds.map((s) => s.less)), showlegend: false,
        hovertemplate: "%{x}: %{y:.4g} tokens/s<extra></extra>" },
      { type: "bar", x: names, y: energies.map((e) => e / 1e9), marker: { color: colours },
        error_y: errorBars(halves.map((h) => h / 1e9), halves.map((h) => h / 1e9)), showlegend: false,
        xaxis: "x2", yaxis: "y2", hovertemplate: "%{x}: %{y:.4g} mJ a token<extra></extra>" },
    ],
    layout: { ...side, yaxis: { ...side.yaxis, title: "tokens/s" },
      yaxis2: { ...side.yaxis2, title: "energy, mJ a token (mid estimate)" } },
    note: "Attention alone: no linear layers. Bars have the 95 % interval over layers where some were " +
      "left out; energy has its own range, low to high, in the table.",
    columns: ["method", "tokens/s", "+", "-", "pJ/token", "+-", "pJ/token, low", "pJ/token, high",
      "bytes/token", "bandwidth used", "limit", "busiest", "busy", "time/dense", "energy/dense"],
    rows: methods.map(({ label, method, step }, i) => [label, speeds[i].value, speeds[i].more,
      speeds[i].less, energies[i], halves[i], scaled(step.energy_pj.total.low, perToken),
      scaled(step.energy_pj.total.high, perToken), method.traffic_bytes_per_token,
      method.bandwidth_fraction, method.limit, method.busiest.name, method.busiest.busy_fraction,
      method.relative_to_dense.latency, method.relative_to_dense.energy]),
  };
});

// Stacked bars, a method each: `parts` gives {name: estimate} of a step.
function stackedParts(run, parts, factor, unit) {
  const methods = methodsOf(run);
  const of = (m, name) => (parts(m.step)[name] ? parts(m.step)[name].value : 0);
  const totals = methods.map((m) => Object.keys(parts(m.step)).reduce((sum, n) => sum + of(m, n), 0));
  const names = Object.keys(parts(methods[0].step))
    .filter((name) => methods.some((m) => of(m, name) > 0));
  const most = (name) => Math.max(...methods.map((m, i) => of(m, name) / totals[i]));
  const shown = names.filter((name) => most(name) >= 0.01).sort((a, b) => most(b) - most(a));
  const rest = names.filter((name) => !shown.includes(name));
  const bar = (name, values) => ({ type: "bar", name, x: methods.map((m) => m.label),
    y: values.map((v) => v * factor),
    hovertemplate: `%{x}<br>${name}: %{y:.4g} ${unit}<extra></extra>` });
  const traces = shown.map((name) => bar(name, methods.map((m) => of(m, name))));
  if (rest.length) {
    traces.push(bar(`${rest.length} smaller parts`, methods.map((m) =>
      rest.reduce((sum, name) => sum + of(m, name), 0))));
  }
  return { methods, of, totals, names, shown, traces };
}

addSection("model-energy", "Where does the energy of a token go?", (run) => {
  const perToken = 1 / batchOf(run);
  const made = stackedParts(run, (step) => step.energy_pj.parts, perToken / 1e6, "uJ");
  const { methods, of, totals, names } = made;
  const dram = (m) => names.filter((name) => name.startsWith("dram_"))
    .reduce((sum, name) => sum + of(m, name), 0);
  return {
    answer: "DRAM's part: " + methods.map((m, i) => `${m.label} ${percent(dram(m) / totals[i])} of ` +
      si(totals[i] * perToken, "pJ")).join(", ") + ".",
    traces: made.traces,
    layout: { barmode: "stack", yaxis: { title: "energy, uJ a token (mid estimate)" } },
    columns: ["part, pJ a token", ...methods.flatMap((m) => [m.label, "+-"])],
    rows: [...names.map((name) => [name, ...methods.flatMap((m) => [of(m, name) * perToken,
      halfOf(m.step.energy_pj.parts[name], perToken)])]),
    ["total", ...methods.flatMap((m) => [scaled(energyOf(m.step), perToken),
      halfOf(energyOf(m.step), perToken)])]],
  };
});

// Everything that is busy for a part of a step, as fractions of it.
function resourcesOf(run, { step }) {
  const { configuration } = run.report;
  const ns = step.latency_ns.value;
  const cycles = ns * configuration.clock_mhz / 1e3;
  const traffic = step.traffic_bytes;
  const read = traffic.query.value + traffic.key.value + traffic.value.value;
  const port = read / (configuration.unit.port_bytes * configuration.system.units) / cycles;
  return [["memory bandwidth", step.memory.busy_ns.value / ns, null, null],
    ["memory port, reads", port, null, null],
    ...Object.entries(step.blocks || {}).map(([name, block]) => [name,
      block.busy_cycles.value / cycles, block.starved_cycles.value / cycles,
      block.blocked_cycles.value / cycles])];
}

addSection("model-time", "Where does the time go, and what limits it?", (run) => {
  const methods = methodsOf(run);
  const rows = methods.flatMap((m) => resourcesOf(run, m).map((row) => [m.label, ...row]));
  const names = [...new Set(rows.map((row) => row[1]))];
  const traces = methods.map((m, i) => {
    const own = new Map(rows.filter((row) => row[0] === m.label).map((row) => [row[1], row[2]]));
    const shown = names.filter((name) => own.has(name)).reverse();
    return { type: "bar", orientation: "h", name: m.label, y: shown,
      x: shown.map((name) => 100 * own.get(name)), marker: { color: COLOURS[i] },
      hovertemplate: `%{y} of ${m.label}: %{x:.1f} %<extra></extra>` };
  });
  return {
    answer: methods.map(({ label, method, step }) => `${label} ${si(step.latency_ns.value, "ns")}, ` +
      (method.limit === "latency"
        ? `limited by latency (${method.busiest.name} is busiest, ${percent(method.busiest.busy_fraction)})`
        : `limited by ${method.limit} (${percent(method.busiest.busy_fraction)})`)).join("; ") + ".",
    traces,
    layout: { barmode: "group", height: window.innerWidth < 600 ? 720 : 640,
      xaxis: { title: "busy, % of the step", range: [0, 100] },
      yaxis: { categoryorder: "array", categoryarray: [...names].reverse() },
      legend: { orientation: "h", x: 0, y: -0.12, yanchor: "top", traceorder: "normal" },
      margin: { l: 150, r: 20, t: 20, b: 50 } },
    note: "Phases overlap: each block works on what the one before it hands over; of several units the " +
      "mean. What is busy four fifths of the step or more limits it; where nothing is, its pieces wait " +
      "for each other.",
    columns: ["method", "what", "busy", "starved", "blocked"],
    rows,
  };
});

addSection("model-traffic", "Which bytes does a token move?", (run) => {
  const perToken = 1 / batchOf(run);
  const streams = (step) => Object.fromEntries(
    Object.entries(step.traffic_bytes).filter(([name]) => name !== "total"));
  const { methods, of, totals, names, traces } = stackedParts(run, streams, perToken / 1e6, "MB");
  return {
    answer: methods.map((m, i) => `${m.label} ${si(totals[i] * perToken, "bytes")}`).join(", ") +
      ` a token, of a cache of ${si(run.report.requests.cache_bytes, "bytes")}.`,
    traces,
    layout: { barmode: "stack", yaxis: { title: "traffic, MB a token" } },
    columns: ["stream, bytes a token", ...methods.map((m) => m.label)],
    rows: [...names, "total"].map((name) => [name, ...methods.map((m, i) =>
      (name === "total" ? totals[i] : of(m, name)) * perToken)]),
  };
});

addSection("model-memory", "What do the memory's buses wait for?", (run) => {
  if (run.report.configuration.memory.model !== "dram") {
    return { reason: "the memory is a bandwidth; memory.model dram has banks and timings." };
  }
  const { methods, of, totals, names, traces } =
    stackedParts(run, (step) => step.memory.time_ns, 1e-6, "ms");
  const waits = (m) => names.filter((name) => name !== "bus")
    .reduce((best, name) => (of(m, name) > of(m, best) ? name : best), names.find((n) => n !== "bus"));
  return {
    answer: methods.map((m, i) => `${m.label} moves data ${percent(of(m, "bus") / totals[i])} of the time` +
      (waits(m) ? ` and waits longest for ${waits(m)}, ${percent(of(m, waits(m)) / totals[i])}` : ""))
      .join("; ") + ".",
    traces,
    layout: { barmode: "stack", yaxis: { title: "time of the data buses, ms a step" } },
    columns: ["what, ns", ...methods.map((m) => m.label)],
    rows: names.map((name) => [name, ...methods.map((m) => of(m, name))]),
  };
});

// What a result is about, less how long its requests are and how many.
function designOf(run) {
  const { provenance, model, options, data: source } = run.report;
  return JSON.stringify([provenance.configuration_hash, provenance.energy_pack_sha256, model, options,
    source.sha256, source.source, source.seed]);
}

// Tokens a second and energy against a number of each run, of the runs like the chosen one.
function scaling(runs, numberOf, what) {
  const sorted = [...runs].sort((a, b) => numberOf(a) - numberOf(b));
  const names = [...new Set(sorted.flatMap((run) => methodsOf(run).map((m) => m.name)))];
  const traces = [];
  const rows = [];
  names.forEach((name, i) => {
    const own = sorted.map((run) => ({ run, m: methodsOf(run).find((m) => m.name === name) }))
      .filter(({ m }) => m);
    const speeds = own.map(({ run, m }) => speedOf(run, m));
    const factor = ({ run }) => 1 / batchOf(run);
    const energies = own.map((o) => scaled(energyOf(o.m.step), factor(o)));
    const halves = own.map((o) => halfOf(energyOf(o.m.step), factor(o)));
    const line = { type: "scatter", mode: "lines+markers", name: own[0].m.label, legendgroup: name,
      x: own.map(({ run }) => numberOf(run)), marker: { color: COLOURS[i] }, line: { color: COLOURS[i] } };
    traces.push({ ...line, y: speeds.map((s) => s.value),
      error_y: errorBars(speeds.map((s) => s.more), speeds.map((s) => s.less)) });
    traces.push({ ...line, y: energies.map((e) => e / 1e9), xaxis: "x2", yaxis: "y2", showlegend: false,
      error_y: errorBars(halves.map((h) => h / 1e9), halves.map((h) => h / 1e9)) });
    own.forEach(({ run, m }, k) => rows.push([m.label, numberOf(run), speeds[k].value, speeds[k].more,
      speeds[k].less, energies[k], halves[k], m.method.limit, m.method.relative_to_dense.latency,
      m.method.relative_to_dense.energy]));
  });
  const [from, to] = [sorted[0], sorted[sorted.length - 1]];
  const ends = names.map((name) => {
    const own = rows.filter((row) => row[0] === methodsOf(sorted[0]).concat(methodsOf(to))
      .find((m) => m.name === name)?.label);
    return own.length < 2 ? null : `${own[0][0]} ${plain(own[0][2])} to ${plain(own[own.length - 1][2])}`;
  }).filter((text) => text);
  const side = sideBySide();
  const ticks = { type: "log", title: what, tickvals: [...new Set(sorted.map(numberOf))] };
  return {
    answer: `Tokens a second from ${plain(numberOf(from))} to ${plain(numberOf(to))} ${what}: ` +
      `${ends.join(", ")}.`,
    traces,
    layout: { ...side, xaxis: { ...side.xaxis, ...ticks }, xaxis2: { ...side.xaxis2, ...ticks },
      yaxis: { ...side.yaxis, type: "log", title: "tokens/s" },
      yaxis2: { ...side.yaxis2, type: "log", title: "energy, mJ a token" } },
    note: `The ${runs.length} of ${data.runs.length} results that differ from the chosen one in that alone.`,
    columns: ["method", what, "tokens/s", "+", "-", "pJ/token", "+-", "limit", "time/dense",
      "energy/dense"],
    rows,
  };
}

const differ = (runs, numberOf) => new Set(runs.map(numberOf)).size > 1;

addSection("model-context", "What does a longer context cost?", (chosen) => {
  const runs = data.runs.filter((run) => designOf(run) === designOf(chosen) &&
    batchOf(run) === batchOf(chosen) && isEven(run));
  if (!isEven(chosen) || !differ(runs, longestOf)) {
    return { reason: "no two results differ in the context alone." };
  }
  return scaling(runs, longestOf, "tokens of context");
});

addSection("model-batch", "What does a larger batch bring?", (chosen) => {
  const runs = data.runs.filter((run) => designOf(run) === designOf(chosen) && isEven(run) &&
    longestOf(run) === longestOf(chosen));
  if (!isEven(chosen) || !differ(runs, batchOf)) {
    return { reason: "no two results differ in the batch alone." };
  }
  return scaling(runs, batchOf, "requests of the batch");
});

addSection("model-sensitivity", "When does the ranking flip?", (run) => {
  const methods = methodsOf(run);
  if (methods.length < 2) return { reason: "the result has one method, and nothing to rank." };
  // The adder-only unit against the others, where it is there.
  const first = methods.find((m) => m.name === "sampled") ||
    methods.find((m) => m.name === "bernoulli") || methods[0];
  const perToken = 1 / batchOf(run);
  return rankingFlips([first, ...methods.filter((m) => m !== first)].map(({ label, step }) => ({ label,
    colour: COLOURS[methods.findIndex((m) => m.label === label)],
    total: scaled(energyOf(step), perToken), bits: 8 * scaled(step.traffic_bytes.total, perToken),
    parts: Object.fromEntries(Object.entries(step.energy_pj.parts).map(([name, part]) =>
      [name, scaled(part, perToken)])) })), "energy, uJ a token");
});

addSection("model-layers", "How sure is that?", (run) => {
  const methods = methodsOf(run);
  const { layers, heads, heads_total: total } = run.report.simulated;
  if (layers.length === run.report.model.layers) {
    return { reason: `all ${layers.length} layers with all ${plain(total)} heads were simulated.` };
  }
  const relative = (half, value) => (half === null ? "unknown" : percent(half / value));
  const side = sideBySide();
  const box = (m, i, values, axes) => ({ type: "box", name: m.label, y: values, boxpoints: "all",
    jitter: 0.4, pointpos: 0, marker: { color: COLOURS[i], size: 4 }, showlegend: false, ...axes });
  return {
    answer: `${layers.length} of ${run.report.model.layers} layers, ${plain(heads)} of ${plain(total)} ` +
      "heads were simulated. 95 % interval of the step's time and energy: " +
      methods.map(({ label, step }) => `${label} +- ${relative(step.latency_ns.ci95, step.latency_ns.value)}` +
        ` and +- ${relative(energyOf(step).ci95, energyOf(step).value)}`).join("; ") + ".",
    traces: methods.flatMap((m, i) => [
      box(m, i, m.method.layers.latency_ns.map((ns) => ns / 1e3), {}),
      box(m, i, m.method.layers.energy_pj.map((pj) => pj / 1e6), { xaxis: "x2", yaxis: "y2" })]),
    layout: { ...side, yaxis: { ...side.yaxis, title: "time of a layer, us" },
      yaxis2: { ...side.yaxis2, title: "energy of a layer, uJ" } },
    note: "A dot a layer. The interval is Student's t over layers, with the correction for a finite " +
      "population; it does not cover what heads the data lacks.",
    columns: ["method", "layer", "time, ns", "energy, pJ"],
    rows: methods.flatMap((m) => layers.map((layer, k) => [m.label, layer, m.method.layers.latency_ns[k],
      m.method.layers.energy_pj[k]])),
  };
});

// A point for each method of each result.
const designPoints = (runs) => runs.flatMap((run) => methodsOf(run).map((m) => ({ label: m.label,
    name: m.name, run: run.label, speed: m.method.tokens_per_s, slowness: -m.method.tokens_per_s,
    energy: m.method.energy_pj_per_token, limit: m.method.limit, model: run.report.model.name,
    hardware: run.report.configuration.name, batch: batchOf(run), context: longestOf(run) })));

const DESIGN_COLUMNS = ["method", "result", "model", "hardware", "longest context", "batch", "tokens/s",
  "pJ/token", "limit"];
const designRow = (p) => [p.label, p.run, p.model, p.hardware, p.context, p.batch, p.speed, p.energy,
  p.limit];

addSection("model-designs", "Which design is best for this model, context and batch?", (chosen) => {
  const work = ({ report }) => JSON.stringify([report.model.name, report.requests.lengths]);
  const runs = data.runs.filter((run) => work(run) === work(chosen));
  const points = designPoints(runs);
  const names = [...new Set(points.map((p) => p.name))];
  const traces = names.map((name, i) => {
    const own = points.filter((p) => p.name === name);
    return { type: "scatter", mode: "markers", name: own[0].label, x: own.map((p) => p.speed),
      y: own.map((p) => p.energy / 1e9), text: own.map((p) => `${p.label}<br>${p.run}`),
      marker: { color: COLOURS[i], size: points.length > 200 ? 5 : 9, opacity: 0.8 },
      hovertemplate: "%{text}<br>%{x:.4g} tokens/s, %{y:.4g} mJ a token<extra></extra>" };
  });
  const front = paretoFront(points, "slowness", "energy");
  traces.push({ type: "scatter", mode: "lines", name: "best of all", hoverinfo: "skip",
    x: front.map((p) => p.speed), y: front.map((p) => p.energy / 1e9),
    line: { shape: "vh", color: "#8c8c8c", width: 1 } });
  const shown = front.slice(0, 6).map((p) => `${p.label}` + (runs.length > 1 ? ` (${p.run})` : "") +
    ` ${plain(p.speed)} tokens/s at ${si(p.energy, "pJ")}`);
  return {
    answer: `Nothing is faster at less energy than ${shown.join("; ")}` +
      (front.length > shown.length ? `; and ${front.length - shown.length} more.` : "."),
    traces,
    layout: { xaxis: { type: "log", title: "tokens/s" },
      yaxis: { type: "log", title: "energy, mJ a token" } },
    note: "Down and to the right is better" + (runs.length < data.runs.length
      ? `; the ${runs.length} of ${data.runs.length} results with the requests of the chosen one.` : ".") +
      " What a method's outputs are worth is not here: santasim run has their errors.",
    columns: DESIGN_COLUMNS,
    rows: points.map(designRow),
  };
});

addSection("model-runs", "All results", () => {
  const points = designPoints(data.runs);
  const names = [...new Set(points.map((p) => p.name))];
  return {
    answer: `${data.runs.length} result${data.runs.length === 1 ? "" : "s"}` +
      (data.failed ? `; ${data.failed} points failed and are not here.` : "."),
    traces: names.map((name, i) => {
      const own = points.filter((p) => p.name === name);
      return { type: "scatter", mode: "markers", name: own[0].label, x: own.map((p) => p.run),
        y: own.map((p) => p.speed), marker: { color: COLOURS[i], size: 7 },
        hovertemplate: "%{x}<br>%{y:.4g} tokens/s<extra>" + own[0].label + "</extra>" };
    }),
    layout: { xaxis: { showticklabels: data.runs.length <= 4 && window.innerWidth >= 600 },
      yaxis: { type: "log", title: "tokens/s" } },
    columns: DESIGN_COLUMNS,
    rows: points.map(designRow),
  };
});

makePage();
