/** A document as a page of HTML: whole in itself, without scripts, and good to print. */
import { renderSVG } from "uqr";
import { Html, html } from "../../../base/html.ts";
import type { Fact, PageModel } from "./model.ts";
import { fitsQr } from "./qr.ts";

const STYLE = new Html(`<style>
body{margin:2em auto;padding:0 1em;max-width:52em;font:15px/1.45 "Noto Sans",system-ui,sans-serif;color:#1a1a1a}
h1{font-size:1.5em;margin:0 0 1em}h2{font-size:.8em;color:#555;margin:0;font-weight:normal}
section{overflow-wrap:anywhere}.two{display:grid;grid-template-columns:1fr 1fr;gap:2em;margin-bottom:1.5em}
p{margin:0}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3em .5em}.lines th{border-bottom:1.5px solid #333}
.lines td{border-bottom:1px solid #ccc;overflow-wrap:anywhere}.n{text-align:right;white-space:nowrap}
.facts th{font-weight:normal;color:#555;padding:0 .8em 0 0;white-space:nowrap}.facts td{padding:0;overflow-wrap:anywhere}
.totals{width:60%;margin:.5em 0 1em auto}.totals th{font-weight:normal}
.strong th,.strong td{font-weight:bold;border-top:1.5px solid #333;border-bottom:1.5px solid #333}
.notes p{margin:.3em 0}.small{font-size:.87em}footer{margin-top:1.5em}
.irn{display:flex;gap:1.5em;margin-top:1em;align-items:flex-start}.irn svg{width:11em;height:11em;flex:none}
</style>`);

export function htmlOf(model: PageModel): string {
  const { supplier, recipient, columns, rows, totals, words, notes, registration, signature } = model;
  const party = ({ heading, name, lines }: PageModel["supplier"]) =>
    html`<section><h2>${heading}</h2><p><strong>${name}</strong></p>${lines.map((line) => html`<p>${line}</p>`)}</section>
`;
  const isNumber = (at: number) => columns[at]?.isNumber === true;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${`${model.title} ${model.number}`}</title>
${STYLE}</head>
<body>
<h1>${model.title}</h1>
<div class="two">${party(supplier)}${factTable(model.facts)}</div>
<div class="two">${party(recipient)}</div>
<table class="lines"><thead><tr>${columns.map(({ title }, at) => cell("th", title, isNumber(at)))}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${row.map((text, at) => cell("td", text, isNumber(at)))}</tr>
`,
  )}</tbody></table>
<table class="totals">${totals.map(
    ({
      name,
      value,
      isStrong,
    }) => html`<tr class="${isStrong ? "strong" : ""}"><th scope="row">${name}</th><td class="n">${value}</td></tr>
`,
  )}</table>
<section><h2>${words[0]}</h2><p>${words[1]}</p></section>
<section class="notes small">${notes.map(
    (note) => html`<p>${note}</p>
`,
  )}</section>
${registration === undefined ? undefined : html`<section class="irn small">${factTable(registration.facts)}${qrOf(registration.qr)}</section>`}
<footer class="small">${signature.map(
    (line) => html`<p>${line}</p>
`,
  )}</footer>
</body>
</html>
`.text;
}

const factTable = (facts: readonly Fact[]): Html =>
  html`<table class="facts">${facts.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
  )}</table>`;

const cell = (tag: "th" | "td", text: string, isNumber: boolean): Html => {
  const kind = isNumber ? "n" : "";
  return tag === "th" ? html`<th class="${kind}">${text}</th>` : html`<td class="${kind}">${text}</td>`;
};

/** Drawn by the library from the bits of the code: no text of it becomes markup. */
const qrOf = (text: string): Html | undefined =>
  fitsQr(text) ? new Html(renderSVG(text, { border: 2, ecc: "L" })) : undefined;
