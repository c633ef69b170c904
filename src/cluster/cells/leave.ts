/** How a cell leaves the others: what it alone knows is told first, so that they need not wait for it. */
import type { Session } from "./exchange/exchange.ts";
import type { Parts } from "./exchange/parts.ts";
import type { Beats } from "./membership/beats.ts";
import type { Wakefulness } from "./membership/wakefulness.ts";
import type { Follower } from "./replica/follower.ts";
import { within } from "./within.ts";

/** A cell that stops tells the others, who do not wait for it then; without Redis they learn it by its silence. */
const LEAVE_MS = 1000;

interface Leaving {
  readonly session: Session;
  readonly beats: Beats;
  readonly follower: Follower;
  readonly awake: Wakefulness;
  readonly parts: Parts;
  readonly close: () => void;
}

export async function leave({ session, beats, follower, awake, parts, close }: Leaving): Promise<void> {
  awake.stop();
  const operation = ["leave", parts.areSettled() ? 1 : 0, parts.inserting.isDone() ? 1 : 0] as const;
  // A beat behind it would make this one a cell that fell silent.
  const said = beats.stop().then(() => session.lane("leave").send([operation]));
  await within(LEAVE_MS, said).catch(() => {});
  session.close();
  close();
  await Promise.all([beats.stop(), follower.stop()]);
}
