/**
 * Writes THIRD_PARTY.md: the licence texts of all that is installed to run Weir, from the lock file and `node_modules`. Packages for
 * another system than this one are listed with the name of their licence. Run it on Linux x64 after a change of dependencies;
 * test/unit/docs/third-party.test.ts compares.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)([._-].*)?$/i;
/** Deeper ones are of examples and tests. */
const MAX_DEPTH = 4;

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly texts: readonly string[];
}

/** https://spdx.org/licenses/MIT.html, without the line of the copyright. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** What packages do not say of what they bundle. */
const REMARKS: Readonly<Record<string, string>> = {
  "uWebSockets.js":
    "The npm package `uws-pack` repacks binaries of uWebSockets.js and uSockets by Alex Hultman (https://github.com/uNetworking), " +
    "licensed under the Apache License 2.0, whose text the package lacks; its own file, below, is of the repack. The text of the Apache License is at the end.",
  lmdb: "Bundles LMDB by Howard Chu, Symas Corp. (OpenLDAP Public License 2.8).",
  chdb: "Its platform packages bundle ClickHouse as a library (Apache License 2.0, at the end).",
};

function partsOf(): Part[] {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)
    .map(([path, locked]) => {
      const folder = join(ROOT, path);
      const manifest = join(folder, "package.json");
      const said: unknown = existsSync(manifest)
        ? JSON.parse(readFileSync(manifest, "utf8")).license
        : undefined;
      return {
        name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
        version: locked.version,
        licence: locked.license ?? (typeof said === "string" ? said : "see its text"),
        texts: existsSync(folder) ? textsOf(folder) : [],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}

/** Its licence files; without one what its README says, else the name of its author, which the usual text needs. */
function textsOf(folder: string): string[] {
  const files = textsIn(folder, MAX_DEPTH);
  if (files.length > 0) return files;
  const readme = readdirSync(folder).find((name) => /^readme/i.test(name));
  const said = readme === undefined ? "" : readFileSync(join(folder, readme), "utf8").replace(/\r\n?/g, "\n");
  const quoted = /^[^\n]*copyright.*?permission is hereby granted.*?software\.?$/ims.exec(
    said.slice(said.search(/licen[cs]e/i)),
  )?.[0];
  if (quoted !== undefined) return [quoted.replace(/[ \t]+$/gm, "").trim()];
  const { author, license, repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const holder = typeof author === "string" ? author : (author?.name ?? "its authors");
  const source = typeof repository === "string" ? repository : (repository?.url ?? "");
  return [`The package has no licence text. It says: ${license}, by ${holder}. ${source}`.trim()];
}

function textsIn(folder: string, depth: number): string[] {
  const texts: string[] = [];
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (
      entry.isFile() &&
      LICENCE_FILE.test(entry.name) &&
      !/\.(js|ts|mjs|cjs|json|py|sh|html)$/.test(entry.name)
    ) {
      texts.push(
        readFileSync(join(folder, entry.name), "utf8")
          .replace(/\r\n?/g, "\n")
          .replace(/[ \t]+$/gm, "")
          .trim(),
      );
    } else if (entry.isDirectory() && depth > 0 && entry.name !== "node_modules") {
      texts.push(...textsIn(join(folder, entry.name), depth - 1));
    }
  }
  return [...new Set(texts)];
}

/** The file's text. Equal texts stand once, with all packages that they are of. */
export function thirdParty(): string {
  const parts = partsOf();
  const apache = readFileSync(join(ROOT, "LICENSE"), "utf8").trim();
  const names = new Map<string, string[]>();
  for (const { name, version, texts } of parts) {
    for (const text of texts) names.set(text, [...(names.get(text) ?? []), `${name} ${version}`]);
  }
  const rows = parts.map(
    ({ name, version, licence, texts }) =>
      `| ${name} | ${version} | ${licence} | ${texts.length > 0 ? "below" : "its name only"} |`,
  );
  const remarks = Object.entries(REMARKS).map(([name, text]) => `- ${name}: ${text}`);
  const sections = [...names].map(([text, of]) => `### ${[...new Set(of)].join(", ")}\n\n${fenced(text)}`);
  return `${[
    "# Third-party software",
    "Made by `node scripts/third-party.ts` from the lock file and the installed packages; a test compares it. Development packages are not in it.",
    "## What packages bundle",
    remarks.join("\n"),
    "## Packages",
    ["| package | version | licence | text |", "|---|---|---|---|", ...rows].join("\n"),
    "The texts are those of an install on Linux x64. A package for another system is under the licence of the package that it belongs to, and `node-…` under that of Node.js.",
    "## Texts",
    ...sections,
    "### MIT License: packages that name it without a text, by the authors that are named above",
    fenced(MIT),
    "### Apache License 2.0: uWebSockets.js, uSockets, ClickHouse, and packages that name it without a text",
    fenced(apache),
  ].join("\n\n")}\n`;
}

const fenced = (text: string): string => `~~~~text\n${text}\n~~~~`;

if (process.argv[1] === import.meta.filename) writeFileSync(join(ROOT, "THIRD_PARTY.md"), thirdParty());
