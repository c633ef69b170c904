/** A document as a page of HTML: whole in itself, without scripts, and good to print. */
import { renderSVG } from "uqr";
import { Html, html } from "../../../base/html.ts";
import { FACE, LOOK_CSS } from "../../../base/look.ts";
import type { ColumnModel, Fact, PageModel } from "./model.ts";
import { fitsQr } from "./qr.ts";

/**
 * A sheet on the console's ground, light or dark; black on white when printed, on A4. On a narrow screen parties stand below each other, and
 * each line of the table becomes a block with the names of its columns. Words, numbers and codes are broken only where they alone are wider than the page.
 */
const STYLE = new Html(`<style>
${LOOK_CSS}
*{box-sizing:border-box}
body{margin:0;padding:24px 12px;background:var(--ground);color:var(--text);font:15px/1.45 "Noto Sans",${FACE}}
main{max-width:56rem;margin:0 auto;padding:32px;border-radius:6px;background:var(--surface);overflow-wrap:break-word}
h1{font-size:1.5em;line-height:1.3;margin:0 0 1em}h2{font-size:.8em;color:var(--text-quiet);margin:0;font-weight:normal}
p{margin:0}.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:2em;margin-bottom:1.5em}
section{min-width:0;overflow-wrap:break-word}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35em .5em}th:first-child,td:first-child{padding-left:0}th:last-child,td:last-child{padding-right:0}
.lines th{border-bottom:1.5px solid var(--text);white-space:nowrap}.lines td{border-bottom:1px solid var(--line)}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.k{white-space:nowrap}
.facts th{font-weight:normal;color:var(--text-quiet);padding:0 1em 0 0;white-space:nowrap}.facts td{padding:0;overflow-wrap:anywhere}.facts .k{overflow-wrap:normal}
.totals{width:60%;margin:.5em 0 1em auto}.totals th{font-weight:normal}
.strong th,.strong td{font-weight:bold;border-top:1.5px solid var(--text);border-bottom:1.5px solid var(--text)}
.notes p{margin:.3em 0}.small{font-size:.87em}footer{margin-top:1.5em}
.irn{display:flex;flex-wrap:wrap;gap:1.5em;margin-top:1em;align-items:flex-start}.irn .facts{flex:1 1 16em;width:auto}
.irn svg{width:12em;height:12em;flex:none;padding:4px;background:#fff;border-radius:6px}
@media screen and (max-width:44rem){
body{padding:12px 8px}main{padding:20px 16px}.two{grid-template-columns:minmax(0,1fr);gap:1em}
.lines thead{display:none}
.lines,.lines tbody,.lines tr{display:block}.lines tr{padding:.5em 0;border-bottom:1px solid var(--line)}
.lines td{display:flex;justify-content:space-between;gap:1em;padding:.15em 0;border:0;text-align:right;min-width:0}
.lines td::before{content:attr(data-name);flex:none;color:var(--text-quiet);font-weight:normal;white-space:nowrap}
.lines td:nth-child(2){font-weight:600}.totals{width:100%}
}
@page{size:A4;margin:16mm}
@media print{body{padding:0;background:none;font-size:12px}main{max-width:none;padding:0;background:none}tr,.irn,footer{break-inside:avoid}}
</style>`);

export function htmlOf(model: PageModel): string {
  const { supplier, recipient, columns, rows, totals, words, notes, registration, signature } = model;
  const party = ({ heading, name, lines }: PageModel["supplier"]) =>
    html`<section><h2>${heading}</h2><p><strong>${name}</strong></p>${lines.map((line) => html`<p>${line}</p>`)}</section>
`;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${`${model.title} ${model.number}`}</title>
<meta name="color-scheme" content="light dark">
${STYLE}</head>
<body><main>
<h1>${model.title}</h1>
<div class="two">${party(supplier)}${factTable(model.facts)}</div>
<div class="two">${party(recipient)}</div>
<table class="lines"><thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col" class="${isNumber ? "n" : ""}">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${row.map((text, at) => cell(columns[at], text))}</tr>
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
</main></body>
</html>
`.text;
}

/** Longer ones are long texts, or codes such as an IRN, which may break. */
const MOST_UNBROKEN = 32;
const isShort = (text: string): boolean => text.length <= MOST_UNBROKEN && !text.includes(" ");

const factTable = (facts: readonly Fact[]): Html =>
  html`<table class="facts">${facts.map(
    ([
      name,
      value,
    ]) => html`<tr><th scope="row">${name}</th><td class="${isShort(value) ? "k" : ""}">${value}</td></tr>
`,
  )}</table>`;

const cell = (column: ColumnModel | undefined, text: string): Html =>
  html`<td class="${column?.isNumber === true ? "n" : isShort(text) ? "k" : ""}" data-name="${column?.title ?? ""}">${text}</td>`;

/** Drawn by the library from the bits of the code: no text of it becomes markup. */
const qrOf = (text: string): Html | undefined =>
  fitsQr(text) ? new Html(renderSVG(text, { border: 2, ecc: "L" })) : undefined;
