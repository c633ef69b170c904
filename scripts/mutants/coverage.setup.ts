/**
 * For a run that measures: leaves, for each test file, which parts of the sources ran while it did. Vitest runs this before each
 * file. V8 counts calls since it was last asked, so what one file ran is not counted for the next.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll } from "vitest";
import { COVERAGE_FOLDER, type Measured, MUTATED_ROOMS, measuredFile, type Spans } from "./coverage.ts";

const root = process.cwd();
const folder = process.env[COVERAGE_FOLDER] ?? "";
const rooms = MUTATED_ROOMS.map((room) => pathToFileURL(join(root, "src", room, sep)).href);

/** One for the whole process, which counts from before the first source is loaded. */
const kept = globalThis as { weirCoverage?: Session };
kept.weirCoverage ??= startedSession();
const session = kept.weirCoverage;
const before = process.cpuUsage();

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it that nothing is asked for.
afterAll(({}, suite) => {
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error !== null) throw error;
    const spans: Record<string, Spans> = {};
    for (const script of taken.result.filter(({ url }) => rooms.some((room) => url.startsWith(room)))) {
      const path = fileURLToPath(script.url.split("?")[0] ?? "");
      const found = spansOf(script, readFileSync(path, "utf8").length);
      if (found.length > 0) spans[relative(root, path).replaceAll(sep, "/")] = found;
    }
    const { user, system } = process.cpuUsage(before);
    const measured: Measured = { ms: Math.round((user + system) / 1000), spans };
    const path = relative(root, suite.file.filepath).replaceAll(sep, "/");
    writeFileSync(measuredFile(folder, path), JSON.stringify(measured));
  });
});

function startedSession(): Session {
  const started = new Session();
  started.connect();
  started.post("Profiler.enable");
  // Without counts V8 tells of each function once only.
  started.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return started;
}

/** Later ranges are within earlier ones, and say more. Node strips types by spaces, so offsets are those of the source. */
function spansOf({ functions }: Profiler.ScriptCoverage, length: number): Spans {
  const ran = new Uint8Array(length + 1);
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
    // Node may put a line behind the source.
    ran.fill(count > 0 ? 1 : 0, startOffset, Math.min(endOffset, length));
  }
  const spans: [number, number][] = [];
  for (let start = ran.indexOf(1); start >= 0; ) {
    const end = ran.indexOf(0, start);
    spans.push([start, end]);
    start = ran.indexOf(1, end);
  }
  return spans;
}
