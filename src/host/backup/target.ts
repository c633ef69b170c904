/** The folder that a backup is made in: new or empty, apart from the data folder, and removed again where the backup fails. */
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

export interface Target {
  readonly folder: string;
  /** Removes what the backup has written. */
  discard(): void;
}

/** @throws Error for the operator */
export function newTarget(to: string, dataDir: string): Target {
  const folder = resolve(to);
  const wasThere = existsSync(folder);
  if (wasThere && !statSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
  if (wasThere && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty: name a new folder, or an empty one`);
  if (isInside(real(folder), real(dataDir))) throw new Error(`${folder} is in the data folder ${dataDir}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    folder,
    discard() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
      if (!wasThere) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isInside = (path: string, folder: string): boolean => `${path}${sep}`.startsWith(`${folder}${sep}`);

/** Also of a path whose last parts do not exist yet. */
function real(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return join(real(dirname(path)), basename(path));
}
