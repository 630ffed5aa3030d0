/** Files that a chart hands out: CSV, the picture of a canvas, an SVG with its colours in it. */

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A field of a CSV file, quoted where it must be. */
export function csvField(value: string | number): string {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines of a CSV file. `note` stands above the head: what the figures are of. */
export function csvText(note: string, head: readonly string[], rows: Iterable<readonly (string | number)[]>): string {
  const lines = [`# ${note}`, head.map(csvField).join(",")];
  for (const row of rows) lines.push(row.map(csvField).join(","));
  return `${lines.join("\n")}\n`;
}

export function saveCsv(name: string, text: string): void {
  save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
}

export function savePng(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => {
    if (blob !== null) save(blob, `${name}.png`);
  }, "image/png");
}

/** Properties that the style sheet gives to parts of a drawing. */
const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
];

/** The drawing as it is shown, with `note` beneath: readable without this window's style sheets. */
export function saveSvg(name: string, svg: SVGSVGElement, note: string): void {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const shown = svg.querySelectorAll("*");
  for (const [index, part] of [...copy.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(shown[index]!);
    for (const property of DRAWN) part.setAttribute(property, style.getPropertyValue(property));
  }
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = note;
  copy.prepend(title);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  save(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), `${name}.svg`);
}
