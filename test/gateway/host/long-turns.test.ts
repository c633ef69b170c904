/** `/metrics` tells what stopped the thread that serves calls. */
import { test } from "vitest";
import { during } from "../../../src/base/turns/long-work.ts";
import { keepBusy } from "../../support/pace.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { until } from "../../support/wait.ts";

const gateway = sharedGateway();

const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();

test("a turn that a tick keeps for 20 ms is in its histogram", async () => {
  const counted = async () => {
    const lines = /^weir_long_turns_seconds_bucket\{what="tick",le="([\d.]+)"\} (\d+)$/gm;
    return new Map([...(await metrics()).matchAll(lines)].map(([, le = "", count]) => [le, Number(count)]));
  };
  const before = await counted();
  const grownAt = (now: Awaited<ReturnType<typeof counted>>, le: string) =>
    (now.get(le) ?? 0) - (before.get(le) ?? 0);
  setImmediate(() => during("tick", () => keepBusy(20)));
  const isSeen = (now: Awaited<ReturnType<typeof counted>>) => grownAt(now, "1") > grownAt(now, "0.016");
  await until("the turn is counted", counted, isSeen);
});

test("collections of the heap are counted by kind", async () => {
  await gateway.chat();
  await until("a collection is told of", metrics, (text) =>
    /^weir_collections_seconds_count\{kind="minor"\} [1-9]/m.test(text),
  );
});
