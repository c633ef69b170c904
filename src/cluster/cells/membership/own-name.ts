/** The name of a folder's cell: it has one for ever, no other folder has it, and one process at a time runs under it. */
import type { Store } from "../../../store/store.ts";
import { KEY_PREFIX } from "../redis/keys.ts";
import type { RedisLink } from "../redis/redis.ts";
import { cellNameOf, folderIdOf, nameCell } from "./membership.ts";

/** As in `CELL`. */
const LONGEST_NAME = 64;
const ALIVE_LOOK_MS = 1000;

/**
 * The name of the folder's cell. An empty folder gets `wanted`; where the cell of that name was retired, its folder may come back, so
 * the empty one gets `wanted.2`, then `wanted.3`: a machine or pod whose name is given goes on after its disk was lost.
 * @param wanted `CELL`
 * @throws Error with a line for the operator where the name is another folder's, or a process under it is alive
 */
export async function ownName(local: Store, link: RedisLink, wanted: string): Promise<string> {
  const known = cellNameOf(local);
  if (known !== undefined && !isNameFor(wanted, known))
    throw new Error(`CELL: the data folder is that of cell ${known}, and cannot be that of ${wanted}`);
  const name = known ?? (await freeName(link, wanted, await folderIdOf(local)));
  if (known === undefined) await nameCell(local, name);
  await assertNobody(link, name);
  return name;
}

/** Whether a folder whose cell has this name may be started with `CELL=wanted`. */
function isNameFor(wanted: string, name: string): boolean {
  return (
    name === wanted || (name.startsWith(`${wanted}.`) && /^[1-9]\d*$/.test(name.slice(wanted.length + 1)))
  );
}

/**
 * Takes the first free name for the folder. Where several folders want one name at once, one gets it and the others are refused. The
 * name stays taken for this folder where its process is killed before it has stored the name.
 */
async function freeName(link: RedisLink, wanted: string, folderId: string): Promise<string> {
  for (let name = wanted, count = 2; name.length <= LONGEST_NAME; name = `${wanted}.${count++}`) {
    const life = await link.call("HGET", `${KEY_PREFIX}lives`, name);
    if (life === null) {
      const taken = `${KEY_PREFIX}folders`;
      await link.call("HSETNX", taken, name, folderId);
      if (String(await link.call("HGET", taken, name)) === folderId) return name;
      throw new Error(
        `CELL: another data folder is about to be cell ${name}: choose another name, or retire it if that folder is lost`,
      );
    }
    const retired = await link.call("HGET", `${KEY_PREFIX}retired`, name);
    // It may be started again on its own folder, and is not retired then.
    if (Number(retired ?? 0) < Number(life))
      throw new Error(
        `CELL: there is a cell ${name} already, on another data folder: choose another name, or retire it if its folder is lost`,
      );
  }
  throw new Error(`CELL: cells of the name ${wanted} were retired, and it is too long to be numbered`);
}

/** A process that ended without a word is not heard of again. */
async function assertNobody(link: RedisLink, name: string): Promise<void> {
  const said = await signOfLife(link, name);
  if (said === null) return;
  await new Promise((resolve) => setTimeout(resolve, ALIVE_LOOK_MS));
  const now = await signOfLife(link, name);
  if (now !== null && !now.equals(said))
    throw new Error(`CELL: a process runs as cell ${name} on a copy of the data folder: stop it first`);
}

const signOfLife = async (link: RedisLink, name: string) =>
  (await link.call("HGET", `${KEY_PREFIX}applied`, name)) as Buffer | null;
