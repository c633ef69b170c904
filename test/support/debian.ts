/** Tools that tests need of the machine: installed from Debian where they are missing and that is possible. */
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INSTALL_MS = 240_000;
/** Held by one process of the tests at a time: apt-get fails where another one has its lists open. */
const LOCK = join(tmpdir(), "weir-apt-get.lock");

/**
 * Has a command of a Debian package ready, installing it if need be. Takes minutes at worst.
 * @returns why it cannot be had; undefined where it can
 */
export function missingCommand(command: string, debianPackage: string): string | undefined {
  const isThere = () => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
  if (isThere()) return undefined;
  if (process.getuid?.() !== 0) return `there is no ${command}, and only root can install it`;
  const install = `command -v ${command} || apt-get install -y -q --no-install-recommends ${debianPackage}`;
  const steps = `${install} || (apt-get update -q && ${install})`;
  // With runlevel 1 a package that is a service does not start it.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  spawnSync("flock", [LOCK, "sh", "-c", steps], { stdio: "ignore", timeout: INSTALL_MS, env });
  return isThere() ? undefined : `there is no ${command}, and apt-get does not install ${debianPackage}`;
}
