/**
 * `/dev/mail`: the mails that were written to the data folder instead of being sent. They hold what concerns orgs alone,
 * so they are shown only where nobody but this machine reaches the gateway, and only to requests that come from it directly.
 */
import { z } from "zod";
import { fail, mustExist } from "../../base/errors.ts";
import { type Html, html, pageText } from "../../base/html.ts";
import { raw } from "../../base/operation/answer.ts";
import * as field from "../../base/operation/fields.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { operation } from "../../base/operation/operation.ts";
import { readEml } from "./eml.ts";
import type { Mail } from "./mail.ts";

export interface MailOperationDeps {
  readonly folder: Mail["folder"];
  /** Nobody but this machine reaches the gateway. */
  readonly isLocalOnly: boolean;
}

/** On the page that lists them. */
const LISTED = 100;

/**
 * Styles of mails are attributes; nothing is loaded and no script runs, in the page and in the mail within it, which inherits
 * this.
 */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};
const HTML_TYPE = "text/html";

export const mailOperations = (deps: MailOperationDeps) => ({
  listDevMail: operation({
    summary: `The newest ${LISTED} mails that were written instead of sent, as a page; on this machine only`,
    method: "GET",
    path: "/dev/mail",
    access: "public",
    group: "Operation",
    output: z.undefined(),
    otherTypes: [HTML_TYPE],
    errors: ["not_found"],
    async run(_input, _caller, head) {
      const folder = folderFor(deps, head);
      const names = (await folder.names()).slice(0, LISTED);
      const rows: Html[] = [];
      for (const name of names) {
        const bytes = await folder.read(name);
        if (bytes !== undefined) rows.push(listed(name, bytes));
      }
      return shown(
        "Mail",
        rows.length === 0 ? html`<p>No mail was written yet.</p>` : html`<ul>${rows}</ul>`,
      );
    },
  }),
  getDevMail: operation({
    summary: "One of these mails, as a page",
    method: "GET",
    path: "/dev/mail/{id}",
    access: "public",
    group: "Operation",
    params: z.object({ id: field.pathId }),
    output: z.undefined(),
    otherTypes: [HTML_TYPE],
    errors: ["not_found"],
    async run({ params }, _caller, head) {
      const bytes = mustExist(await folderFor(deps, head).read(`${params.id}.eml`), "mail");
      return mailPage(bytes);
    },
  }),
});

/** @throws WeirError `not_found` */
function folderFor({ folder, isLocalOnly }: MailOperationDeps, head: HttpHead): NonNullable<Mail["folder"]> {
  if (folder === undefined || !isLocalOnly || head.isFromThisMachine !== true) {
    throw fail(
      "not_found",
      "Mails are shown only on the machine of a gateway that writes them to its folder, without a proxy between.",
    );
  }
  return folder;
}

function listed(name: string, bytes: Buffer): Html {
  const { subject, to, date } = readEml(bytes);
  const id = name.slice(0, -".eml".length);
  return html`<li><a href="/dev/mail/${id}"><bdi>${subject}</bdi></a><br><span class="quiet">to ${to}, ${date}</span></li>
`;
}

function mailPage(bytes: Buffer) {
  const mail = readEml(bytes);
  return shown(
    mail.subject,
    html`<p><a href="/dev/mail">All mails</a></p>
<dl><dt>To</dt><dd>${mail.to}</dd><dt>Date</dt><dd>${mail.date}</dd><dt>Message-ID</dt><dd>${mail.messageId}</dd></dl>
<h2>HTML</h2>
<iframe title="The mail" sandbox="allow-top-navigation-by-user-activation" srcdoc="${`<base target="_top">${mail.html}`}" style="width:100%;height:28em;border:0;background:#fff"></iframe>
<h2>Text</h2>
<pre class="wrapped">${withLinks(mail.text)}</pre>`,
  );
}

/** Addresses can be clicked; a line of a mail is one as a whole. */
const withLinks = (text: string): Html =>
  html`${text.split("\n").map((line) =>
    /^https?:\/\/[^\s<>"]+$/.test(line.trim())
      ? html`<a href="${line.trim()}">${line}</a>
`
      : html`${line}
`,
  )}`;

const shown = (title: string, content: Html) =>
  raw(
    `${HTML_TYPE}; charset=utf-8`,
    pageText({
      title: `${title} · Weir`,
      body: html`<main><h1>${title}</h1>${content}</main>`,
    }),
    { headers: HEADERS },
  );
