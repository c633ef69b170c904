/** Docker's own tool, as far as it needs no daemon. */
import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testFolder } from "../process.fixtures.ts";
import { DEPLOY } from "./fixtures.ts";

/** `docker-compose config` with this text in place of a file of `config/deploy`, as in the file's folder after its first lines. */
export function composeConfig(name: string, text: string, env: Readonly<Record<string, string>>) {
  const folder = testFolder();
  writeFileSync(join(folder, name), text);
  copyFileSync(join(DEPLOY, "weir.env.example"), join(folder, "weir.env"));
  const { PATH = "" } = process.env;
  const { status, stdout, stderr } = spawnSync("docker-compose", ["--file", name, "config"], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH, HOME: folder, ...env },
  });
  return { status, stdout, stderr };
}
