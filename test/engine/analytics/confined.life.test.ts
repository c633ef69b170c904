/** The analysts' process beside the engine's: what it reads and when, how it ends, and when it is not there at all. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants, isRunning, reason } from "../../support/analytics/confined.fixtures.ts";
import { equals, until } from "../../support/wait.ts";
import { openSide, type Side } from "./isolation.fixtures.ts";

const COUNT = "SELECT count(), countIf(user_agent = 'plain') FROM requests";
/** Also the engine is away for a moment. */
const isProcessUp = (side: Side) =>
  side.ask("SELECT 1").then(
    ({ status }) => status === 200,
    () => false,
  );

describe.skipIf(reason !== "")(`S1: the analysts' process ${reason}`, () => {
  let side: Side;
  beforeAll(async () => {
    side = await openSide(["org_a", "org_b"]);
    await until("its process is up", () => isProcessUp(side));
  });
  afterAll(() => side?.close());

  const own = () => descendants(side.engine.pid() ?? 0);
  const insert = (id: string) =>
    side.clickhouse.command(`INSERT INTO requests (request_id, ts, org_id) SELECT '${id}', now(), 'org_a'`);
  const count = async () => Number((await side.ask("SELECT count() FROM requests")).text);

  it("S1: shows each row soon after its insertion, also after parts are merged", async () => {
    // At once where listing the parts takes no time: test/timed/analytics/fresh-rows.test.ts.
    const before = await count();
    for (let at = 1; at <= 12; at++) {
      await insert(`new-${at}`);
      await until("the row is shown", count, equals(before + at));
    }
    await side.clickhouse.command("OPTIMIZE TABLE requests FINAL");
    const answers = () => Promise.all(Array.from({ length: 3 }, count));
    await until("each row is shown once", answers, equals([before + 12, before + 12, before + 12]));
  });

  it("S1: shows nothing of rows that were erased", async () => {
    const shown = async (statement: string) => (await side.ask(statement)).text;
    expect(await shown("SELECT count() FROM payloads")).toBe("50\n");
    await side.clickhouse.command(
      "ALTER TABLE payloads DELETE WHERE org_id = 'org_a' SETTINGS mutations_sync = 1",
    );
    await side.clickhouse.command(
      "ALTER TABLE requests UPDATE user_agent = '' WHERE org_id = 'org_a' SETTINGS mutations_sync = 1",
    );
    await until("no payload is shown", () => shown("SELECT count() FROM payloads"), equals("0\n"));
    await until(
      "no name is shown",
      () => shown(COUNT),
      (text) => /^\d+\t0\n$/.test(text),
    );
    await side.clickhouse.command(
      "INSERT INTO payloads (ts, org_id, expires_at) SELECT now(), 'org_a', now() + INTERVAL 1 DAY",
    );
    await until("a payload is shown", () => shown("SELECT count() FROM payloads"), equals("1\n"));
    await side.clickhouse.command("TRUNCATE TABLE payloads");
    await until("no payload is shown", () => shown("SELECT count() FROM payloads"), equals("0\n"));
  });

  it("S1: sees a column that a later release adds", async () => {
    await side.clickhouse.command("ALTER TABLE shadow_runs ADD COLUMN later String DEFAULT 'x'");
    const shown = async () => (await side.ask("SELECT DISTINCT later FROM shadow_runs")).text;
    // Where listing the parts takes long, it looks again some time later.
    await until("the column is shown", shown, equals("x\n"));
  });

  it("S1: cannot put another socket in the place of its own", () => {
    const analysts = join(side.folder, "clickhouse/analysts");
    expect(statSync(join(analysts, "analysts.sock")).isSocket()).toBe(true);
    expect(readdirSync(join(analysts, "scratch"))).not.toContain("analysts.sock");
  });

  it("S1: is the one that the system ends where memory is short", () => {
    const score = readFileSync(`/proc/${own().at(-1)}/oom_score_adj`, "utf8");
    expect(score).toBe("1000\n");
  });

  it("S1: is started again when it is killed, while the engine goes on", async () => {
    const before = own();
    expect(before.length).toBeGreaterThan(0);
    process.kill(before.at(-1) ?? 0, "SIGKILL");
    await insert("beside");
    await until("its process is up", () => isProcessUp(side));
    expect(own().filter((pid) => before.includes(pid))).toEqual([]);
    expect(side.engine.restarts()).toBe(0);
    await until("the processes of before are gone", () => before.every((pid) => !isRunning(pid)));
  });

  it("S1: also starts where the gateway itself is nicer than the process would be", async () => {
    side.engine.setAnalysts([]);
    await until("it has no process", own, ({ length }) => length === 0);
    const pid = side.engine.pid() ?? 0;
    setPriority(pid, 15);
    side.engine.setAnalysts(side.analysts);
    await until("its process is up", () => isProcessUp(side));
    expect(getPriority(own().at(-1) ?? 0)).toBe(15);
  });

  it("S1: runs while there are analysts, and ends with the engine's process, also by kill -9", async () => {
    side.engine.setAnalysts([]);
    await until("it has no process", own, ({ length }) => length === 0);
    side.engine.setAnalysts(side.analysts);
    await until("its process is up", () => isProcessUp(side));
    const pids = own();
    process.kill(side.engine.pid() ?? 0, "SIGKILL");
    await until("its processes are gone", () => pids.every((pid) => !isRunning(pid)));
    await until("its process is up", () => isProcessUp(side));
  });
});

describe("S1: where the process cannot be confined", () => {
  it("S1: analysts are refused with the reason and the cure where they are off", async () => {
    const side = await openSide(["org_a"], "off");
    const { status, text } = await side.ask("SELECT 1");
    await side.close();
    expect(status).toBe(403);
    expect(text).toContain("analysts' users are off: weir.yaml says analytics.analysts: off");
    expect(text).toContain("CLICKHOUSE_URL");
  });

  it("S1: analysts read their rows unconfined where weir.yaml says so", async () => {
    const side = await openSide(["org_a", "org_b"], "unconfined");
    await until("its process is up", () => isProcessUp(side));
    expect((await side.ask(COUNT)).text).toBe("200\t200\n");
    await side.close();
  });

  it.skipIf(reason !== "")(`S1: a system that allows no namespaces is found out ${reason}`, () => {
    // A user namespace that allows no further one, without rights in it.
    const script =
      'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"';
    const probe = fileURLToPath(new URL("./confinement.told.ts", import.meta.url));
    const node = [process.execPath, "--disable-warning=ExperimentalWarning", probe];
    const { stdout } = spawnSync("unshare", ["--user", "--map-root-user", "sh", "-c", script, "sh", ...node]);
    const { kind, reason, detail } = JSON.parse(stdout.toString());
    expect([kind, reason]).toEqual([
      "off",
      "this system lets the gateway make no namespaces to confine them in",
    ]);
    expect(detail).toMatch(/unshare/);
  });
});
