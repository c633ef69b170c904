/** What a process that dies amid activations leaves: the policy that was in force before, or the one after. */
import { expect, test } from "vitest";
import { removeFolder, seededFolder, testGateway } from "../../../support/gateway.ts";
import { spawnGateway } from "../../../support/spawned-gateway.ts";

test("kill -9 during activations leaves exactly one version active, complete", async () => {
  const folder = await seededFolder(() => {});
  try {
    const first = await spawnGateway({ folder, engine: false });
    const send = (path: string, body: object) => first.call("POST", `/v1/policies${path}`, { body });
    await send("", { name: "house", yaml: "version: 1\nsort: price" });
    await send("/house/versions", { yaml: "version: 1\nsort: latency" });
    await send("/house/activate", { version: 1 });
    let answered = 0;
    const under = Array.from({ length: 40 }, (_, i) =>
      send("/house/activate", { version: (i % 2) + 1 }).then(
        () => {
          if (++answered === 10) first.process.kill("SIGKILL");
        },
        () => {},
      ),
    );
    await Promise.all(under);
    await first.kill("SIGKILL");
    const second = await testGateway({ folder });
    const { data } = (await second.call("GET", "/v1/policies/house/versions")).json;
    const statuses = data.map((v: { status: string }) => v.status);
    expect(statuses.filter((status: string) => status === "active")).toHaveLength(1);
    expect(statuses).not.toContain("draft");
    const run = await second.call("POST", "/v1/policies/house/dry-run", {
      body: { model: "weir/sim-small" },
    });
    expect(run.json.decision.sort).toBe(run.json.version === 1 ? "price" : "latency");
    await second.stop();
    await first.simulator.close();
  } finally {
    removeFolder(folder);
  }
});
