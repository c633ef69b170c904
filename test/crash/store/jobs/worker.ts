/**
 * The process that the crash test of jobs kills: it asks for jobs, each in an act with a row of its own, and runs them; the end of a
 * run counts it in its act. Run: `node test/crash/store/jobs/worker.ts <folder> <seed> <jobs> [step] [killer]`. Lines: `asked <key>` once its act
 * is committed, `ran <key> <attempt>` as a run begins, `refused` where the disk takes nothing, `idle` when it asks for no more and nothing waits, runs or is given up. With
 * SIGTERM it stops and says `stopped`. Where a step is given, it kills itself at that one: before and behind each commit of
 * its own, and at the begin and the end of each run. Where a killer is named, a job of this key kills its process each time, and the others have few tries
 * and do not fail by themselves.
 */
import { z } from "zod";
import { seededRandom, systemClock, systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import { type JobRow, jobKind } from "../../../../src/store/jobs/job.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore } from "../../../../src/store/store.ts";
import { again, rest } from "../../../support/pace.ts";
import { say } from "../../../support/say.ts";
import { killedAt } from "../../../support/store/steps.ts";
import { until } from "../../../support/wait.ts";

const [folder = "", seed = "1", count = "0", step = "0", killer = ""] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const steps = killedAt(Number(step));
const store = openStore(folder, { onFailure: () => say("refused") });
const asked = store.table<number>("asked");
const effects = store.table<number>("effects");

const kind = jobKind({
  name: "crash.run",
  payload: z.object({ n: z.number() }),
  tries: killer === "" ? 1000 : 3,
  backoff: { firstMs: 2, mostMs: 20 },
  atOnce: 24,
  atOncePerLane: 5,
  leaseMs: 60_000,
});
const jobs = new Jobs({
  store: steps.around(store),
  clock: systemClock,
  timers: systemTimers,
  random: systemRandom,
  holder: "cell",
  onFailure: () => {},
});

jobs.handle(kind, {
  async run({ n }, { key, attempt, signal }) {
    say(`ran ${key} ${attempt}`);
    steps.at();
    if (n % 3 === 0) await rest(random() * (killer === "" ? 10 : 80), signal);
    if (killer === "" && random() < 0.2) throw new Error("this time it fails");
    steps.at();
    return { act: () => effects.put(key, (effects.get(key) ?? 0) + 1) };
  },
});

const killing = jobKind({ ...kind, name: "crash.kill", payload: z.object({}), tries: 4 });
jobs.handle(killing, {
  async run() {
    say(`killed ${killer}`);
    // Others run meanwhile.
    await rest(5 + random() * 30);
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  },
});

let isStopping = false;
const stops = new Promise<void>((resolve) => {
  process.on("SIGTERM", () => {
    isStopping = true;
    resolve();
  });
});
// A promise does not keep a process.
const endKeeping = again(() => {}, 60_000);

await jobs.start();
if (killer !== "" && jobs.row(killing.name, killer) === undefined) {
  await store.act(() => jobs.enqueue(killing, { key: killer, orgId: "org_0", payload: {} }));
}
for (let n = 0; n < Number(count) && !isStopping; n++) {
  const key = `${seed}-${n}`;
  const dueMs = systemClock.now() + (n % 4 === 0 ? random() * 50 : 0);
  steps.at();
  await store.act(() => {
    asked.put(key, n);
    jobs.enqueue(kind, { key, orgId: `org_${n % 7}`, dueMs, payload: { n } });
  });
  steps.at();
  say(`asked ${key}`);
}
// A job that waits for its next try may be in no lane.
const rows = store.table<JobRow>("jobs.rows");
const isLeft = () => [...rows.range()].some(({ value }) => value.state !== "given_up");
await until("no job waits or runs", () => isStopping || !isLeft());
say("idle");
await stops;
endKeeping();
await jobs.stop();
await store.close();
say("stopped");
