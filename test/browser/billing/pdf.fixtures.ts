/** Documents as a reader of PDF sees them: drawn by `pdftoppm`, and each word with its place on the page, by `pdftotext`. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Both programs are of poppler-utils. */
export const isPopplerThere = spawnSync("pdftoppm", ["-v"]).error === undefined;

/** A word and its box on the page, points from the upper left corner. */
export interface Word {
  readonly text: string;
  readonly page: number;
  readonly pageWidth: number;
  readonly pageHeight: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

async function run(program: string, args: readonly string[], input: Buffer): Promise<string> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  let text = "";
  let faults = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => (text += data));
  child.stderr.setEncoding("utf8").on("data", (data: string) => (faults += data));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0 || faults !== "") throw new Error(`${program} ended with ${code}: ${faults}`);
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const unescaped = (text: string): string =>
  text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);

export async function wordsOf(pdf: Buffer): Promise<Word[]> {
  const words: Word[] = [];
  let page = { page: 0, pageWidth: 0, pageHeight: 0 };
  for (const line of (await run("pdftotext", ["-bbox", "-", "-"], pdf)).split("\n")) {
    const size = /<page width="([\d.]+)" height="([\d.]+)"/.exec(line);
    if (size !== null)
      page = { page: page.page + 1, pageWidth: Number(size[1]), pageHeight: Number(size[2]) };
    const word =
      /<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*)<\/word>/.exec(line);
    if (word === null) continue;
    const [left = 0, top = 0, right = 0, bottom = 0] = word.slice(1, 5).map(Number);
    words.push({ ...page, text: unescaped(word[5] ?? ""), left, top, right, bottom });
  }
  return words;
}

/** Least white between words and the edge of the paper, points. */
const MARGIN = 20;
/** Boxes are of the font's height, and touch from line to line. */
const TOUCH = 0.35;

/** What nobody should see: words over each other or near the edge, and characters that the font lacks. */
export function faultsOf(words: readonly Word[]): string[] {
  const faults: string[] = [];
  for (const [i, word] of words.entries()) {
    const { text, left, top, right, bottom, pageWidth, pageHeight } = word;
    if (/[\ufffd\p{Cc}\p{Co}]/u.test(text)) faults.push(`a glyph is missing in ${text}`);
    if (left < MARGIN || top < MARGIN || right > pageWidth - MARGIN || bottom > pageHeight - MARGIN)
      faults.push(`${text} is at the edge of page ${word.page}`);
    for (const other of words.slice(i + 1)) {
      const width = Math.min(right, other.right) - Math.max(left, other.left);
      const height = Math.min(bottom, other.bottom) - Math.max(top, other.top);
      const least = Math.min(bottom - top, other.bottom - other.top);
      if (other.page === word.page && width > 0.5 && height > TOUCH * least)
        faults.push(`${text} is over ${other.text} on page ${word.page}`);
    }
  }
  return faults;
}

/** Each page as PNG. They stay in the folder that `WEIR_LOOK_AT` names, for a person to look at. */
export async function drawnPages(pdf: Buffer, name: string): Promise<Buffer[]> {
  const kept = process.env.WEIR_LOOK_AT;
  const folder = kept ?? (await mkdtemp(join(tmpdir(), "weir-pages-")));
  mkdirSync(folder, { recursive: true });
  if (kept !== undefined) writeFileSync(join(folder, `${name}.pdf`), pdf);
  await run("pdftoppm", ["-png", "-r", "72", "-", join(folder, name)], pdf);
  const pages = readdirSync(folder)
    .filter((file) => file.startsWith(`${name}-`) && file.endsWith(".png"))
    .sort()
    .map((file) => readFileSync(join(folder, file)));
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  return pages;
}
