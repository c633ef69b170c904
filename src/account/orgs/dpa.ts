/**
 * The data processing agreement as a page: one template, filled with the operator's side, the org's name and the providers of the
 * catalog. Every value from outside is escaped. What it says of the product must be true of the product.
 */
import { escapeHtml } from "../../base/html.ts";
import { FACE, LOOK_CSS } from "../../base/look.ts";

export interface DpaSupplier {
  /** Empty: the operator has not filled it in, and the page says so. */
  readonly legalName: string;
  readonly address: string;
  /** Where requests and notices about data go. */
  readonly contact: string;
  readonly governingLaw: string;
}

/** A provider of models, as far as the agreement tells of it. */
export interface Subprocessor {
  readonly name: string;
  readonly regions: readonly string[];
  readonly trains: boolean;
  readonly retentionDays: number;
}

export interface DpaParts {
  readonly supplier: DpaSupplier;
  /** The org's legal name. Empty where the request has no credential, or the org has given none. */
  readonly customer: string;
  readonly subprocessors: readonly Subprocessor[];
  readonly date: string;
}

/** The console's look, within the page: it is saved and printed as a whole. */
const STYLE = `${LOOK_CSS}*{box-sizing:border-box}
body{margin:0 auto;max-width:46rem;padding:2rem 1rem;background:var(--ground);color:var(--text);font:16px/1.55 ${FACE};overflow-wrap:break-word}
.name{font-weight:700;color:var(--text);text-decoration:none}main{margin-top:1.5rem;padding:1.5rem;border-radius:6px;background:var(--surface)}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.3}h2{margin:1.5rem 0 .5rem;font-size:1.125rem}p{margin:.5rem 0}ol{margin:0;padding-left:1.5rem}li{margin:.35rem 0}
.note{padding:.75rem 1rem;border-radius:6px;background:var(--sunk)}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;margin:1rem 0 .5rem}
td,th{padding:.35rem .75rem .35rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}th{font-weight:400;color:var(--text-quiet)}
@media (max-width:30rem){body{padding:1rem .75rem}main{padding:1rem}}
@page{size:A4;margin:16mm}@media print{body{max-width:none;padding:0;background:none;font-size:12px}main{padding:0;background:none}.name{display:none}h2,tr{break-after:avoid;break-inside:avoid}}`;

/** A whole HTML page, without scripts and without anything from elsewhere. */
export function dpaPage(parts: DpaParts): string {
  const body = [parties(parts), ...SECTIONS.map(section), subprocessors(parts), END].join("\n");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Data processing agreement</title>
<style>${STYLE}</style>
</head><body><header><a class="name" href="/">Weir</a></header><main>
<h1>Data processing agreement</h1>
<p class="note"><strong>This is a template. Have a lawyer confirm that it fits your case and your law before you rely on it.</strong></p>
${body}
</main></body></html>
`;
}

const BLANK = "____________________";

function parties({ supplier, customer, date }: DpaParts): string {
  const filled = (text: string) => (text === "" ? BLANK : escapeHtml(text));
  return `<p>Date of this text: ${escapeHtml(date)}</p>
<h2>Parties</h2>
<p><strong>Processor:</strong> ${filled(supplier.legalName)}, ${filled(supplier.address)}; contact for questions of data: ${filled(supplier.contact)} (“we”).</p>
<p><strong>Controller:</strong> ${filled(customer)} (“you”).</p>
<p>Governing law: ${filled(supplier.governingLaw)}.</p>`;
}

interface Section {
  readonly title: string;
  readonly points: readonly string[];
}

const SECTIONS: readonly Section[] = [
  {
    title: "Roles",
    points: [
      "You decide why and how personal data in your model calls is processed: you are the controller, or act for one. We process it for you and on your documented instructions only: your calls, your settings and this agreement.",
      "For data about your own people (sign-in, billing, security) we are a controller of our own.",
    ],
  },
  {
    title: "Subject, purpose and duration",
    points: [
      "Purpose: to route calls to model providers and return their answers, to meter and bill them, to show you what was called, and to keep the service safe. We do not train models on your data and do not sell it.",
      "Kinds of data: what your prompts, files and answers contain; a keyed hash of the end user you name; tags, user agent and shortened network address of a call; names and e-mail addresses of your members.",
      "Data subjects: your end users, your members, and whoever your prompts speak of.",
      "Duration: as long as your organisation is open here, and then until erasure as below.",
    ],
  },
  {
    title: "Retention and erasure",
    points: [
      "Prompts and answers are kept only if your data policy allows it, for the number of days that you set (30 unless changed). If you have only metadata logged, or nothing, or ask for zero data retention, they are not stored at all.",
      "Records of calls without content are kept for 400 days, audit entries for 400 days, events for 30 days.",
      "You can export everything before you leave, and have it erased: 30 days after your request, which you may cancel until then, a job removes prompts and answers, stored responses, personal fields of members and end users, tickets and credentials.",
      "Ledger, invoices and totals stay as long as tax law asks for them. They name your organisation by its number; invoices also carry what was printed on them.",
    ],
  },
  {
    title: "Security measures",
    points: [
      "API keys and session tokens are stored as hashes; your own provider credentials are encrypted at rest (AES-256-GCM).",
      "Secrets that match the redaction rules of your data policy are removed before prompts and answers reach the analytics database.",
      "Files of the service are readable by its own system user only. Each organisation sees its own data only.",
      "People sign in by OpenID Connect; you may require a second factor and limit the console to networks of yours. Every change of settings is in the audit, which you can read.",
      "Connections to providers are encrypted where the provider's address is https; encryption between you and the service is the duty of whoever operates it, by a proxy in front of it.",
    ],
  },
  {
    title: "Your rights and our duties",
    points: [
      "We bind everyone who may see your data to confidentiality, and help you with requests of data subjects, impact assessments and your duties towards authorities, as far as we can.",
      "We tell you of a breach of your personal data without undue delay after we learn of it, with what we know.",
      "On request we give you what you need to show that these duties are met, and allow reasonable audits.",
      "If we think that an instruction breaks the law, we say so and may wait with it.",
    ],
  },
  {
    title: "Sub-processors and transfers",
    points: [
      "A call is sent to the provider that serves it. You agree to the providers below; your data policy and routing policies limit which of them get your calls, by region, retention and training.",
      "Changes of the list are announced before they take effect; you may object by excluding the provider or by ending the service.",
      "Where a provider is in a country without an adequate level of protection, the parties use the standard contractual clauses that apply to them.",
    ],
  },
];

const section = ({ title, points }: Section): string =>
  `<h2>${title}</h2>\n<ol>${points.map((point) => `<li>${point}</li>`).join("\n")}</ol>`;

function subprocessors({ subprocessors: list }: DpaParts): string {
  const rows = list.map(
    ({ name, regions, trains, retentionDays }) =>
      `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(regions.join(", "))}</td><td>${retentionDays}</td><td>${trains ? "yes" : "no"}</td></tr>`,
  );
  return `<div class="wide" tabindex="0" role="region" aria-label="Sub-processors"><table><thead><tr><th>Sub-processor</th><th>Regions</th><th>Keeps data, days</th><th>Trains on it</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>
<p>The columns repeat what each provider states; the provider's own terms decide.</p>`;
}

const END = `<h2>Signatures</h2>
<p>Processor: ${BLANK} &nbsp; Date: ${BLANK}</p>
<p>Controller: ${BLANK} &nbsp; Date: ${BLANK}</p>`;
