/**
 * What everybody may see of an app, as a page for people: figures, days as a drawing and as a table, models, and the badge with what is
 * copied to show it. Names are of tenants: all of them are text.
 */
import { type Html, html, pageText } from "../../base/html.ts";
import type { AppPage } from "./app-page.ts";

type Day = AppPage["trend"][number];

export interface PublicPage {
  readonly page: AppPage;
  /** The gateway's, as the reader used it; empty where that is not known. */
  readonly address: string;
}

const WIDTH = 600;
const HEIGHT = 120;
/** A day with any use at all is seen. */
const LEAST = 2;
/** Models that are shown without being asked for. */
const FIRST_MODELS = 10;

export function publicPage({ page, address }: PublicPage): string {
  const { slug, name, category, trend } = page;
  const badge = `/v1/apps/${encodeURIComponent(slug)}/badge`;
  return pageText({
    title: `${name} · Weir`,
    body: html`<p><a class="name" href="/">Weir</a></p>
<main><h1>${name}</h1>
<p class="quiet">${categoryWords(category)}. What it used through this gateway, today and the 29 days before (UTC).</p>
${trend.length === 0 ? NO_FIGURES : figuresOf(page)}</main>
${modelsOf(page)}
${badgeOf(badge, slug, name, address)}
<ul class="links"><li><a href="/v1/rankings">The most used models and apps, for programs</a></li><li><a href="/docs">API reference</a></li></ul>`,
  });
}

/** `customer_support` as a reader says it. */
export function categoryWords(category: string): string {
  const words = category.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

const NO_FIGURES = html`<p>No figures are shown now: they could not be read, or this gateway shows none of a single app.</p>`;

function figuresOf({ tokens_30d: tokens, requests_30d: requests, trend, analytics, generated_at }: AppPage) {
  const read = `${generated_at.slice(0, 16).replace("T", " ")} UTC`;
  return html`<dl class="figures"><div><dt>Tokens</dt><dd>${count(tokens)}</dd></div>
<div><dt>Requests</dt><dd>${count(requests)}</dd></div></dl>
${drawingOf(trend)}
<details><summary>The days as a table</summary><div class="frame" tabindex="0"><table><thead><tr><th scope="col">Day</th><th scope="col">Tokens</th><th scope="col">Requests</th></tr></thead>
<tbody>${trend.toReversed().map(rowOf)}</tbody></table></div></details>
<p class="quiet">Read ${read}${analytics ? "" : "; newer figures could not be read"}.</p>`;
}

const rowOf = ({ day, tokens, requests }: Day): Html =>
  html`<tr><th scope="row">${day}</th><td>${count(tokens)}</td><td>${count(requests)}</td></tr>`;

/** A bar for each day, as high as its tokens are of the busiest day's. */
function drawingOf(trend: readonly Day[]): Html {
  const most = Math.max(1, ...trend.map(({ tokens }) => tokens));
  const step = WIDTH / trend.length;
  const bars = trend.map(({ day, tokens, requests }, at) => {
    const height = tokens === 0 ? 0 : Math.max(LEAST, (tokens / most) * HEIGHT);
    return html`<rect x="${fixed(at * step + step * 0.1)}" y="${fixed(HEIGHT - height)}" width="${fixed(step * 0.8)}" height="${fixed(height)}"><title>${day}: ${count(tokens)} tokens, ${count(requests)} requests</title></rect>`;
  });
  const label = `Tokens of each day, ${count(most)} at most`;
  return html`<p class="quiet">Tokens of each day, ${count(most)} at most</p>
<figure class="trend"><svg viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>
<figcaption class="quiet"><span>${trend[0]?.day ?? ""}</span><span>${trend.at(-1)?.day ?? ""}</span></figcaption></figure>`;
}

const fixed = (value: number): string => String(Math.round(value * 100) / 100);

function modelsOf({ models, tokens_30d: all }: AppPage): Html | undefined {
  if (models.length === 0) return undefined;
  const rows = models.map(
    ({ id, tokens, requests }) =>
      html`<tr><th scope="row">${id}</th><td>${count(tokens)}</td><td>${count(requests)}</td><td>${shareOf(tokens, all)}</td></tr>`,
  );
  const rest = rows.slice(FIRST_MODELS);
  return html`<section><h2>Models that it uses</h2>${modelTable(rows.slice(0, FIRST_MODELS))}
${rest.length === 0 ? undefined : html`<details><summary>${String(rest.length)} more</summary>${modelTable(rest)}</details>`}</section>`;
}

const modelTable = (rows: readonly Html[]): Html =>
  html`<div class="frame" tabindex="0"><table><thead><tr><th scope="col">Model</th><th scope="col">Tokens</th><th scope="col">Requests</th><th scope="col">Share</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;

function shareOf(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  return percent > 0 && percent < 1 ? "under 1 %" : `${Math.round(percent)} %`;
}

function badgeOf(badge: string, slug: string, name: string, address: string): Html {
  const [image, there] = [`${address}${badge}`, `${address}/v1/apps/${encodeURIComponent(slug)}/public`];
  const markdown = `[![${name.replace(/[[\]\\]/g, "\\$&")}](${image})](${there})`;
  const markup = html`<a href="${there}"><img src="${image}" alt="${name}"></a>`.text;
  return html`<section><h2>The badge</h2>
<p><img src="${badge}" alt="Badge of ${name}: tokens of 30 days"></p>
<p>To show it in a README, in Markdown:</p><pre tabindex="0"><code>${markdown}</code></pre>
<p>In a page, in HTML:</p><pre tabindex="0"><code>${markup}</code></pre></section>`;
}
