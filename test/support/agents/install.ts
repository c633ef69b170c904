/** Installs a pinned agent from npm, once a machine: into the packages' cache, where runs of tests find it again. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "../../../node_modules/.cache/weir-tests");
/** Some hundreds of MB come over the network. */
const INSTALL_MS = 300_000;

interface Agent {
  /** The folder beside this file that has the manifest and its lock file, which pin the version. */
  readonly name: string;
  readonly packageName: string;
  /** The program within the folder of packages. */
  readonly bin: string;
  /** A script of the package that makes the program, within the folder of packages. No other script is run. */
  readonly script?: string;
}

export interface Installed {
  readonly program: string;
  /**
   * Has the program ready, installing it if need be: by one process at a time. Takes minutes at worst.
   * @returns why it cannot be had; undefined where it can
   */
  missing(): string | undefined;
}

/** Another version has another folder, so that it never meets what an older one left. */
export function agentFromNpm({ name, packageName, bin, script }: Agent): Installed {
  const manifest = join(import.meta.dirname, name);
  const { dependencies } = JSON.parse(readFileSync(join(manifest, "package.json"), "utf8"));
  const folder = join(CACHE, `${name}-${dependencies[packageName]}`);
  const packages = join(folder, "node_modules");
  const program = join(packages, bin);
  const runs = () => existsSync(program) && spawnSync(program, ["--version"], { env: ENV }).status === 0;
  return {
    program,
    missing() {
      if (runs()) return undefined;
      mkdirSync(folder, { recursive: true });
      for (const file of ["package.json", "package-lock.json"]) {
        copyFileSync(join(manifest, file), join(folder, file));
      }
      const install = "npm install --ignore-scripts --no-audit --no-fund --loglevel=error";
      const commands = script === undefined ? install : `${install} && node ${join(packages, script)}`;
      spawnSync("flock", [join(folder, "lock"), "sh", "-c", commands], {
        cwd: folder,
        stdio: "ignore",
        timeout: INSTALL_MS,
        env: { ...process.env, NODE_OPTIONS: "" },
      });
      return runs() ? undefined : `npm does not install ${JSON.stringify(dependencies)}`;
    },
  };
}

/** Where programs are, and nothing else of this process. */
const ENV = { PATH: process.env.PATH };
