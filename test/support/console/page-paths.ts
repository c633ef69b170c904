/** Which addresses the console has, for links that lead there from mails and pages of the gateway's own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Read as text: the list names modules that only a browser runs. */
const LIST = readFileSync(join(import.meta.dirname, "../../../console/app/pages.ts"), "utf8");
const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(/^ {4}path: "([\w-]+)"/gm), ([, name = ""]) => name);
const [OF_ORGS = "", OF_OPERATORS = ""] = LIST.split("OPERATOR_PAGES");

const PAGES = new Set(namesIn(OF_ORGS));
const OPERATOR_PAGES = new Set(namesIn(OF_OPERATORS));

/** What may follow a page's name; for pages that are not here, nothing. */
const WITHIN: Readonly<Record<string, RegExp>> = {
  billing: /^(?:\/auto|\/tax|\/invoices(?:\/(?:inv|cn)_\w+)?)?$/,
  credits: /^(?:\/ledger|\/topups(?:\/(?:new|tup_\w+))?)?$/,
  keys: /^(?:\/(?:new|key_\w+))?$/,
  members: /^(?:\/\w+)?$/,
  projects: /^(?:\/prj_\w+)?$/,
  settings: /^(?:\/closing)?$/,
  tickets: /^(?:\/tkt_\w+)?$/,
  webhooks: /^(?:\/whk_\w+)?$/,
};

/** Undefined: there is no such page in the console, whoever asks. @param path behind the gateway's address */
export function pageOf(path: string): string | undefined {
  const [, org = "", page = "", rest = ""] =
    /^\/console\/([\w-]+)\/([\w-]+)((?:\/[\w-]+)*)$/.exec(path) ?? [];
  const pages = org === "operator" ? OPERATOR_PAGES : PAGES;
  return pages.has(page) && (WITHIN[page] ?? /^$/).test(rest) ? page : undefined;
}
