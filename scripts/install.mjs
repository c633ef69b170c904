/**
 * Installs missing packages before `npm start` and `npm test`; almost free when nothing is missing. Runs on the Node
 * that runs npm (20 or newer), before any package exists: plain JavaScript, built-in modules only.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILT, consoleDigest, MADE_FROM } from "./console-digest.mjs";

const root = realpathSync(fileURLToPath(new URL("..", import.meta.url)));
const modules = join(root, "node_modules");
const machine = `${process.platform}-${process.arch}`;
/** `npm test` also needs the development packages; an image that left them out can still `npm start`. */
const withDev = process.argv.includes("--dev");

const reason = whatIsMissing();
if (reason !== undefined) install(reason);
checkNode();
buildConsole();

/**
 * Why packages must be installed, or undefined. Compares the committed lock file with the one that npm writes to
 * node_modules at the end of an install, so it detects both a half-finished install and a newer checkout.
 */
function whatIsMissing() {
  const installed = packagesOf(join(modules, ".package-lock.json"));
  if (installed === undefined) return "No packages are installed";
  for (const [path, wanted] of Object.entries(packagesOf(join(root, "package-lock.json")) ?? {})) {
    if (path === "" || !isNeeded(wanted)) continue;
    const found = installed[path];
    if (found?.version !== wanted.version || found?.integrity !== wanted.integrity) {
      return `${path.slice("node_modules/".length)} is ${found ? "outdated" : "missing"}`;
    }
  }
  const node = bundledNode();
  if (!hasNodePackage() || node?.includes(machine)) return undefined;
  if (node === undefined) return runsTypeScript() ? undefined : "Node 22 is missing";
  // npm would keep another machine's binaries, because their versions match.
  rmSync(modules, { recursive: true, force: true });
  return `node_modules was made on another kind of machine (${node})`;
}

/** npm decides which optional packages this machine needs; the important one is checked separately. */
function isNeeded(locked) {
  if (locked.optional || locked.peer) return false;
  return withDev || !(locked.dev || locked.devOptional);
}

/**
 * `npm install` instead of `npm ci`: it installs the same locked versions, but repairs instead of starting over, and
 * accepts a registry mirror without the optional packages of other platforms, which `npm ci` refuses.
 */
function install(why) {
  console.log(`${why}: installing, once (a minute or so) ...`);
  const startedMs = Date.now();
  // Native parts are prebuilt, so no package needs its install script: none is run.
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const args = ["install", ...flags, ...(withDev ? ["--include=dev"] : [])];
  const npmScript = process.env.npm_execpath ?? "";
  const [command, commandArgs] = npmScript.endsWith("npm-cli.js")
    ? [process.execPath, [npmScript, ...args]]
    : ["npm", args];
  const npm = spawnSync(command, commandArgs, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (npm.status !== 0) {
    const said = [npm.error?.message, npm.stderr, npm.stdout].filter(Boolean).join("\n").trim();
    stop(`${said}\n\nInstalling failed. Cure what npm says above, then run the command again.`);
  }
  console.log(`Installed in ${Math.round((Date.now() - startedMs) / 1000)} s.`);
}

/** Node runs the TypeScript sources itself, which Node 20 cannot: refuse here, with a remedy. */
function checkNode() {
  if (bundledNode()?.includes(machine) || runsTypeScript()) return;
  stop(
    hasNodePackage()
      ? `The package that brings Node 22 to ${machine} was not installed: are optional packages switched off in npm's settings?`
      : `No package brings Node 22 to ${machine}: install Node 22.18 or newer (this is ${process.version}).`,
  );
}

/** Bundles the web console where its sources have changed since it was bundled: some tenths of a second. */
function buildConsole() {
  const digest = consoleDigest(root);
  if (madeFrom() === digest) return;
  const node = bundledNode() === undefined ? process.execPath : join(modules, ".bin", "node");
  const build = spawnSync(node, [join(root, "scripts/console.ts")], { cwd: root, encoding: "utf8" });
  if (build.status !== 0)
    stop(`${build.stderr || build.error?.message}\n\nThe console could not be bundled.`);
}

function madeFrom() {
  try {
    return JSON.parse(readFileSync(join(root, BUILT, MADE_FROM), "utf8")).digest;
  } catch {
    return undefined;
  }
}

/** Path of the `node` in node_modules that npm scripts find first; undefined if no package provides one. */
function bundledNode() {
  const link = join(modules, ".bin", "node");
  return existsSync(link) ? relative(modules, realpathSync(link)) : undefined;
}

function hasNodePackage() {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.keys(optionalDependencies).some((name) => name.startsWith("node-") && name.endsWith(machine));
}

function runsTypeScript() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** The `packages` of a lock file, by path; undefined where it is missing or truncated. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
