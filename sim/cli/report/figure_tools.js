// What figures of runs and of models share. Every number comes from the results' own counters.

// Two figures beside each other, or one above the other on a narrow page.
function sideBySide() {
  if (window.innerWidth < 600) {
    return { height: 700, xaxis: { domain: [0, 1], anchor: "y" }, yaxis: { domain: [0.58, 1] },
      xaxis2: { domain: [0, 1], anchor: "y2" }, yaxis2: { domain: [0, 0.42], anchor: "x2" },
      legend: { orientation: "h", x: 0, y: -0.1, yanchor: "top" } };
  }
  return { xaxis: { domain: [0, 0.45], anchor: "y" }, yaxis: {},
    xaxis2: { domain: [0.55, 1], anchor: "y2" }, yaxis2: { anchor: "x2" } };
}

// The points that no other beats in both coordinates, by rising x.
function paretoFront(points, x, y) {
  const sorted = [...points].sort((a, b) => a[x] - b[x] || a[y] - b[y]);
  let best = Infinity;
  return sorted.filter((point) => {
    if (point[y] >= best) return false;
    best = point[y];
    return true;
  });
}

// Energy of a bit that crosses the memory's interface; activates keep their price.
const PER_BIT_PARTS = ["dram_read", "dram_write", "dram_io"];

// Energy of a unit is linear in every price. With x in place of the price of a bit that crosses the
// memory's interface, unit a costs fixed_a + bits_a x: two units cost the same where x is
// (fixed_a - fixed_b) / (bits_b - bits_a), if that is above 0.
function crossing(fixedA, slopeA, fixedB, slopeB) {
  const x = (fixedA - fixedB) / (slopeB - slopeA);
  return isFinite(x) && x > 0 ? x : null;
}

// What the ranking of the first of `entries`, {label, total, parts, bits} each with pJ by part, among
// the others hangs on: what makes its section. An entry may have a colour. `axis` names the energy, in
// uJ.
function rankingFlips(entries, axis) {
  const partOf = (entry, name) => entry.parts[name] || 0;
  const priced = entries.map((entry) => {
    const perBit = PER_BIT_PARTS.reduce((sum, part) => sum + partOf(entry, part), 0);
    return { ...entry, perBit, fixed: entry.total - perBit };
  });
  const first = priced[0];
  const price = first.perBit / first.bits;
  const rows = [];
  const sentences = [];
  const always = { less: [], more: [] };
  for (const other of priced.slice(1)) {
    const now = first.total < other.total ? "less" : "more";
    const flip = crossing(first.fixed, first.bits, other.fixed, other.bits);
    // Above the crossing the unit that moves fewer bits costs less.
    rows.push(["DRAM, pJ a bit", other.label, price, flip, flip === null ? null : flip / price]);
    if (flip === null) always[now].push(other.label);
    else sentences.push(`${now} than ${other.label}, unless DRAM costs ` +
      `${flip < price ? "less" : "more"} than ${plain(flip)} pJ a bit`);
    for (const part of Object.keys(first.parts)) {
      const a = partOf(first, part);
      const b = partOf(other, part);
      const factor = crossing(first.total - a, a, other.total - b, b);
      if (factor !== null) rows.push([part + ", factor on its prices", other.label, 1, factor, factor]);
    }
  }
  for (const now of ["less", "more"]) {
    if (always[now].length) {
      sentences.push(`${now} than ${always[now].join(", ")} at every price of DRAM`);
    }
  }
  const flips = rows.filter((row) => row[0] === "DRAM, pJ a bit" && row[3] !== null)
    .map((row) => row[3]);
  const from = Math.min(price, ...flips) / 5;
  const to = Math.max(price, ...flips) * 5;
  const xs = [];
  for (let i = 0; i <= 60; ++i) xs.push(from * Math.pow(to / from, i / 60));
  const traces = priced.map(({ label, colour, fixed, bits }) => ({ type: "scatter", mode: "lines", name: label,
    line: { color: colour },
    x: xs, y: xs.map((x) => (fixed + bits * x) / 1e6) }));
  const line = (x, text, colour) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper",
    line: { color: colour, width: 1, dash: "dot" } });
  return {
    answer: `${first.label} costs ${sentences.join("; ")}. Now it is ${plain(price)} pJ a bit.`,
    traces,
    layout: { xaxis: { type: "log", title: "price of DRAM, pJ a bit" },
      yaxis: { type: "log", title: axis },
      shapes: [line(price, "now", "#1c2430"), ...flips.map((flip) => line(flip, "", COLOURS[5]))],
      annotations: [{ x: Math.log10(price), y: 1, yref: "paper", yanchor: "bottom", text: "now",
        showarrow: false }] },
    note: "The counts of the run with other prices: the price of a bit is that of reading or writing and " +
      "of the interface, activates keep theirs. The table has the factor on each part's prices at " +
      "which two units cost the same, the others unchanged.",
    columns: ["price", "against", "now", "flips at", "factor"],
    rows,
  };
}
