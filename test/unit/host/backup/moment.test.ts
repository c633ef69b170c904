/** What the gateway holds for a backup, and that it lets go of it whatever happens to the command. */
import { expect, test } from "vitest";
import { BackupMoment } from "../../../../src/host/backup/moment.ts";

/** Store and analytics that note what is held of them. */
function parts(
  options: { holdMs?: number; freezeFails?: boolean; holdFails?: boolean; stillFails?: boolean } = {},
) {
  const seen: string[] = [];
  let ended = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const moment = new BackupMoment({
    store: {
      async still(act) {
        if (options.stillFails) throw new Error("the store is closed");
        seen.push("store held");
        const value = await act(7);
        seen.push("store released");
        ended();
        return value;
      },
    },
    analytics: {
      isEmbedded: true,
      async hold() {
        if (options.holdFails) throw new Error("records are still being inserted");
        seen.push("records held");
        return () => void seen.push("records released");
      },
      async freeze(name) {
        seen.push(`freeze ${name.replace(/[0-9a-f]{24}/, "ID")}`);
        if (options.freezeFails) throw new Error("ClickHouse does not answer");
      },
    },
    ...(options.holdMs !== undefined && { holdMs: options.holdMs }),
  });
  return { moment, seen, isOver };
}

test("records are held first and released last; the store is held only until its copy has begun", async () => {
  const { moment, seen } = parts();
  const { id, frame } = await moment.begin(true);
  expect(frame).toBe(7);
  expect(await moment.freeze(id)).toBe(`weir_backup_${id}`);
  expect(seen).toEqual(
    ["records held", "store held", "store released", "freeze weir_backup_ID", "records released"].sort(
      (a, b) => seen.indexOf(a) - seen.indexOf(b),
    ),
  );
  expect(seen.indexOf("records released")).toBeGreaterThan(seen.indexOf("freeze weir_backup_ID"));
});

test("without records nothing is frozen", async () => {
  const { moment, seen, isOver } = parts();
  const { id } = await moment.begin(false);
  expect(await moment.freeze(id)).toBeUndefined();
  await isOver;
  expect(seen).toEqual(["store held", "store released"]);
});

test("a command that died holds nothing: the hold ends by itself, its id is refused, and another may begin", async () => {
  const { moment, seen, isOver } = parts({ holdMs: 20 });
  const { id } = await moment.begin(true);
  await expect(moment.begin(true)).rejects.toMatchObject({ code: "state" });
  await isOver;
  expect(seen).toContain("records released");
  await expect(moment.freeze(id)).rejects.toMatchObject({ code: "not_found" });
  await moment.begin(true);
  moment.close();
});

test("where one part cannot be held or frozen, the others are let go and another backup may begin", async () => {
  for (const fault of ["freezeFails", "holdFails", "stillFails"] as const) {
    const { moment, seen } = parts({ [fault]: true });
    const whole = async () => moment.freeze((await moment.begin(true)).id);
    await expect(whole()).rejects.toThrow();
    await expect(whole()).rejects.toThrow(/ClickHouse|closed/);
    const count = (text: string) => seen.filter((one) => one === text).length;
    expect(count("records held")).toBe(count("records released"));
    expect(count("store held")).toBe(count("store released"));
  }
});
