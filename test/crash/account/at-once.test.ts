/**
 * What 200 ask for at the same time while the process is killed with -9: of each act the change, its event, its row of the audit, its
 * deliveries and its mails are all there or none; who was told of success finds it; and once all have asked again, there is one
 * outcome. WEIR_CRASH_SEED repeats a run's choices; `npm run test:crash` kills more often.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { amount } from "../../support/effort.ts";
import type { Answer } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";
import { orgClosed, sessionsEnded } from "./endings.ts";
import {
  keyCap,
  lastOwnersLeave,
  type Match,
  type People,
  sameInvitation,
  sameMember,
  sameSlug,
  type Told,
  ticketDecided,
} from "./matches.ts";
import { type Moment, World } from "./world.ts";

/** Twice the rounds of the other crash tests: in every second one, one act is alone. */
const KILLS = 2 * Number(process.env.WEIR_CRASH_ROUNDS ?? amount(10, 0.5));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? 20_261_130);
const CALLERS = 200;
/** Who were not answered, and others, ask again after the restart. */
const AGAIN = 12;

/** In which the acts of all callers are, roughly. */
const MOST_APPENDS = 12;

const ACTS = [
  sameSlug,
  sameInvitation,
  sameMember,
  lastOwnersLeave,
  ticketDecided,
  keyCap,
  orgClosed,
  sessionsEnded,
];

interface Kill {
  readonly acts: readonly (typeof ACTS)[number][];
  readonly moment: Moment;
}

const random = seededRandom(SEED);
const firstAlone = Math.floor(random() * ACTS.length);
/** All acts at the same time, and one of them alone, by turns. */
const PLAN: readonly Kill[] = Array.from({ length: KILLS }, (_, n) => {
  const one = ACTS[(firstAlone + (n - 1) / 2) % ACTS.length];
  const acts = n % 2 === 0 || one === undefined ? ACTS : [one];
  return { acts, moment: chosenMoment(acts.length) };
});

function chosenMoment(acts: number): Moment {
  if (random() < 0.35) return { at: "answer", count: Math.ceil(random() * CALLERS * acts) };
  const how = (["before", "torn", "behind"] as const)[Math.floor(random() * 3)] ?? "before";
  // The act of one is in the first appends; of several, the later ones are in later appends.
  return { at: "append", count: Math.ceil(random() * (acts === 1 ? 2 : MOST_APPENDS)), how };
}

let world: World;
let people: People;
beforeAll(async () => {
  world = await World.open();
  await world.start(PLAN[0]?.moment);
  const ada = await world.signIn("ada");
  const ben = await world.signIn("ben");
  const more = [];
  for (let n = 0; n < 6; n++) more.push(await world.signIn(`maker-${n}`));
  people = { ada, ben, all: [ada, ben, ...more] };
});
afterAll(() => world.close());

/** All callers of all acts at once. @returns by act: what was answered before the end */
async function burst(matches: readonly Match[], callers: number, moment?: Moment): Promise<Told[][]> {
  let answered = 0;
  if (moment?.at === "append") world.signal("SIGUSR2");
  const told = matches.map((): Told[] => []);
  const calls = Array.from({ length: callers }, (_, n) =>
    matches.map(async ({ call }, which) => {
      const answer: Answer = await call(n);
      told[which]?.push({ n, answer });
      if (moment?.at === "answer" && ++answered === moment.count) world.signal("SIGKILL");
    }),
  );
  const ends = await Promise.allSettled(calls.flat());
  if (moment === undefined) expect(ends.filter(({ status }) => status === "rejected")).toEqual([]);
  return told;
}

const isDone = ({ answer: { status } }: Told): boolean => status < 400;

/** The change and all that goes with it, and what callers were told. */
async function expectWhole(match: Match, told: readonly Told[]): Promise<readonly string[]> {
  const { name, outcomes, refusals } = match;
  const { changed, records } = await match.state();
  const sorted = changed.toSorted();
  expect(new Set(sorted).size, name).toBe(sorted.length);
  expect(sorted.length, name).toBeLessThanOrEqual(outcomes);
  for (const [record, ids] of Object.entries(records))
    expect([record, ids.toSorted()]).toEqual([record, sorted]);
  const done = told.filter(isDone);
  for (const { n, answer } of done) {
    const id = match.told(answer, n);
    if (id !== undefined) expect(changed, `${name}: caller ${n} was told`).toContain(id);
  }
  for (const { answer } of told) {
    if (answer.status >= 400) expect(refusals, name).toContain(JSON.parse(answer.text).error.code);
  }
  await match.check?.(done);
  return changed;
}

/** Each event once to the webhook, and a mail for each change: soon, and not more of them later. */
async function expectSent(match: Match): Promise<void> {
  if ((await match.state()).mails !== undefined) {
    await until(`${match.name}: the mail is written`, async () => {
      const { mails = 0, changed } = await match.state();
      return mails >= changed.length;
    });
    const { mails, changed } = await match.state();
    expect(mails, match.name).toBe(changed.length);
  }
  if (match.org === undefined) return;
  const { org, reader } = match.org;
  const by = await reader();
  const events = (await world.list("/v1/events", by, org)).map(({ id }) => id).sort();
  const deliveries = await world.list(`/v1/webhooks/${org.webhookId}/deliveries`, by, org);
  expect(deliveries.map(({ event_id: id }) => id).sort(), match.name).toEqual(events);
  await until(`${match.name}: the webhook has all`, () => world.received(org).size >= events.length);
  // None that the gateway forgot about was sent.
  expect([...world.received(org)].sort(), match.name).toEqual(events);
}

test(`${KILLS} kills among ${CALLERS} callers of each act: all of an act or nothing, once, and what was told stays`, {
  timeout: 60_000 + KILLS * 20_000,
}, async () => {
  console.log(`WEIR_CRASH_SEED=${SEED}`);
  const tally = { calls: 0, answered: 0, changed: 0, unchanged: 0 };
  for (const [kill, { acts, moment }] of PLAN.entries()) {
    const matches: Match[] = [];
    for (const act of acts) matches.push(await act(world, people));
    const before = await burst(matches, CALLERS, moment);
    await world.end("SIGKILL");
    await world.start(PLAN[kill + 1]?.moment);
    for (const [which, match] of matches.entries()) {
      const told = before[which] ?? [];
      const changed = await expectWhole(match, told);
      tally.calls += CALLERS;
      tally.answered += told.length;
      tally[changed.length > 0 ? "changed" : "unchanged"]++;
    }
    const after = await burst(matches, AGAIN);
    for (const [which, match] of matches.entries()) {
      const changed = await expectWhole(match, [...(before[which] ?? []), ...(after[which] ?? [])]);
      expect(changed, match.name).toHaveLength(match.outcomes);
      await expectSent(match);
    }
  }
  console.log(JSON.stringify(tally));
  expect(await world.list("/v1/operator/jobs", world.operatorSecret())).toEqual([]);
  expect(await world.end("SIGTERM")).toBe(0);
});
