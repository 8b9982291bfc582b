// What the ranking of the units hangs on.

addSection("sensitivity", "When does the ranking flip?", (run) => {
  const units = unitsOf(run);
  if (units.length < 2) return { reason: "the run has no baselines to rank." };
  return rankingFlips(units.map(({ label, unit }) => ({ label, total: mid(unit), bits: bitsOf(unit),
    parts: Object.fromEntries(Object.keys(unit.energy.parts_pj).map((name) =>
      [name, partOf(unit, name)])) })), "energy, uJ");
});

// Runs that differ in their seeds alone.
function seedGroups() {
  const groups = new Map();
  for (const run of data.runs) {
    const { report } = run;
    const key = JSON.stringify([report.provenance.configuration_hash,
      report.provenance.energy_pack_sha256, { ...report.options, seed: 0, step: 0 },
      { ...report.input, data_seed: 0, source: "" }]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(run);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

addSection("seeds", "How much do the results spread over seeds?", () => {
  const groups = seedGroups();
  if (!groups.length) return { reason: "no two runs differ in their seeds alone." };
  const shown = groups.slice(0, 12);
  const traces = [];
  // Numbers alone where names would not fit; the table has both.
  const names = shown.map((group, i) =>
    (window.innerWidth < 600 ? `#${i + 1}` : `${i + 1}: ${group[0].unit_label}`));
  const box = (group, name, i, value, axes) => ({ type: "box", name, boxpoints: "all", jitter: 0.4,
    pointpos: 0, marker: { color: COLOURS[i % COLOURS.length], size: 4 }, y: group.map(value),
    showlegend: false, ...axes });
  shown.forEach((group, i) => {
    traces.push(box(group, names[i], i, (run) => run.report.accuracy.relative_l2, {}));
    traces.push(box(group, names[i], i, (run) => mid(run.report) / 1e6, { xaxis: "x2", yaxis: "y2" }));
  });
  const rows = groups.map((group, i) => {
    const column = (value) => {
      const values = group.map(value);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const square = values.reduce((a, b) => a + (b - mean) * (b - mean), 0);
      return [mean, Math.sqrt(square / (values.length - 1))];
    };
    return [String(i + 1), group[0].unit_label, group[0].label, group.length,
      ...column((run) => run.report.accuracy.relative_l2), ...column((run) => mid(run.report)),
      ...column((run) => run.report.latency.ns)];
  });
  const worst = rows.reduce((a, b) => (b[5] / b[4] > a[5] / a[4] ? b : a));
  const side = sideBySide();
  return {
    answer: `${groups.length} configurations with ${groups[0].length} or more seeds. The error spreads most in ` +
      `number ${worst[0]}: mean ${plain(worst[4])}, standard deviation ${plain(worst[5])}.`,
    traces,
    layout: { ...side, yaxis: { ...side.yaxis, title: "error, relative L2", rangemode: "tozero" },
      yaxis2: { ...side.yaxis2, title: "energy, uJ" },
      xaxis: { ...side.xaxis, tickangle: -35 }, xaxis2: { ...side.xaxis2, tickangle: -35 } },
    note: (groups.length > shown.length ? `The first ${shown.length} of ${groups.length}; the table has all. ` : "") +
      "A dot a seed; boxes are quartiles.",
    columns: ["number", "unit", "first run", "seeds", "error, mean", "error, deviation",
      "energy, mean pJ", "energy, deviation pJ", "latency, mean ns", "latency, deviation ns"],
    rows,
  };
});

addSection("runs", "All runs", () => {
  if (!data.runs.length) return { reason: "there is none." };
  const rows = data.runs.map((run) => [run.label, run.unit_label, run.report.configuration.name,
    run.report.input.context, run.report.latency.ns, mid(run.report), run.report.traffic.total_bytes,
    run.report.accuracy.relative_l2]);
  return {
    answer: `${rows.length} run${rows.length === 1 ? "" : "s"}` + (data.failed ? `; ${data.failed} points failed and are not here.` : "."),
    traces: [{ type: "scatter", mode: "markers", x: rows.map((row) => row[4] / 1e3),
      y: rows.map((row) => row[5] / 1e6), text: rows.map((row) => row[0]), marker: { size: 7 },
      hovertemplate: "%{text}<br>%{x:.4g} us, %{y:.4g} uJ<extra></extra>" }],
    layout: { xaxis: { title: "latency, us", rangemode: "tozero" },
      yaxis: { title: "energy, uJ", rangemode: "tozero" } },
    columns: ["run", "unit", "hardware", "tokens", "latency, ns", "energy, pJ", "bytes",
      "error, relative L2"],
    rows,
  };
});

makePage();
