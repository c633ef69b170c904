/**
 * Bundles the console for browsers: `node scripts/console.ts`, which `npm start` and `npm test` run by themselves where the sources
 * have changed. Every file but the page has the hash of its content in its name, so that browsers keep it for good, and lies beside
 * itself compressed, so that no request compresses it again.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { BUILT, consoleDigest, MADE_FROM } from "./console-digest.mjs";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = join(ROOT, "console");
const OUT = join(ROOT, BUILT);
const ASSETS = join(OUT, "assets");
/** Where the gateway serves them. */
const PREFIX = "/assets/console/";
/** What the page names, beside what these import: the theme, before anything is drawn, and the rest. */
const ENTRIES = { theme: "app/theme-first.ts", main: "main.tsx" };

async function bundled(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: {
      main: join(SOURCES, ENTRIES.main),
      theme: join(SOURCES, ENTRIES.theme),
    },
    outdir: ASSETS,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    tsconfig: join(SOURCES, "tsconfig.json"),
  });
  return metafile;
}

/** Names of the files of an entry: its own, its styles, and what it imports at once. */
function filesOf(metafile: Metafile, source: string) {
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
  if (entry === undefined) throw new Error(`the bundler made nothing of ${source}`);
  const [script, { cssBundle, imports }] = entry;
  const chunks = imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
  return { script: basename(script), style: cssBundle && basename(cssBundle), chunks };
}

function page(metafile: Metafile): string {
  const main = filesOf(metafile, `console/${ENTRIES.main}`);
  const theme = filesOf(metafile, `console/${ENTRIES.theme}`);
  const at = (name: string) => `${PREFIX}${name}`;
  const head = [
    `<script src="${at(theme.script)}"></script>`,
    `<link rel="stylesheet" href="${at(main.style ?? "")}">`,
    ...main.chunks.map((chunk) => `<link rel="modulepreload" href="${at(chunk)}">`),
    `<script type="module" src="${at(main.script)}"></script>`,
  ];
  return readFileSync(join(SOURCES, "index.html"), "utf8").replace("<!-- files -->", head.join("\n    "));
}

/** Whole or not at all, for a gateway may start meanwhile. */
function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function compress(name: string): void {
  const content = readFileSync(join(ASSETS, name));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  write(join(ASSETS, `${name}.br`), brotliCompressSync(content, { params }));
  write(join(ASSETS, `${name}.gz`), gzipSync(content, { level: 9 }));
}

async function main(): Promise<void> {
  const digest = consoleDigest(ROOT);
  rmSync(join(OUT, MADE_FROM), { force: true });
  const metafile = await bundled();
  const made = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
  for (const name of made) compress(name);
  write(join(OUT, "index.html"), page(metafile));
  for (const name of readdirSync(ASSETS)) {
    if (!made.has(name.replace(/\.(br|gz)$/, ""))) rmSync(join(ASSETS, name));
  }
  write(join(OUT, MADE_FROM), JSON.stringify({ digest }));
}

await main();
