/** The webhooks of a demo: one whose receiver is away, one that is paused, and one that answers, well and badly. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { DeliveryRow } from "../../src/account/webhooks/delivery.ts";
import { openStore } from "../../src/store/store.ts";
import type { Person } from "./person.ts";
import { until } from "./world.ts";

interface Made {
  readonly id: string;
}

/** Nothing listens at the port: what is sent there later fails, and reaches nobody. */
const NOWHERE = "http://127.0.0.1:9/hooks";
export const ANSWERING = "Alerts to the on-call channel";

/** What the receiver of the demo says: `response` and `header` of a delivery, as a receiver on the internet would be shown. */
const ANSWERS: Readonly<Record<number, Pick<DeliveryRow, "response" | "responseHeaders">>> = {
  500: {
    response: `{"error":"channel_archived","message":"#on-call was archived on 12 November; post to #alerts."}`,
    responseHeaders: {
      "content-type": "application/json",
      server: "nginx/1.29.3",
      date: "Tue, 01 Dec 2026 09:14:07 GMT",
      "content-length": "94",
    },
  },
  200: {
    response: `{"ok":true}`,
    responseHeaders: {
      "content-type": "application/json",
      server: "nginx/1.29.3",
      date: "Tue, 01 Dec 2026 09:15:31 GMT",
      "content-length": "11",
    },
  },
};

export async function makeWebhooks(owner: Person): Promise<void> {
  const failing = await owner.call<Made>("POST", "/v1/webhooks", {
    url: `${NOWHERE}/weir`,
    description: "Billing events to the back office",
  });
  for (let i = 0; i < 3; i++) await owner.call("POST", `/v1/webhooks/${failing.id}/test`);
  const quiet = await owner.call<Made>("POST", "/v1/webhooks", {
    url: `${NOWHERE}/old`,
    description: "The old back office",
  });
  await owner.call("PATCH", `/v1/webhooks/${quiet.id}`, { status: "disabled" });
  await makeAnswering(owner);
}

/** A test that fails, and one that is taken once the receiver is mended. Behind them it hears of what no demo has. */
async function makeAnswering(owner: Person): Promise<void> {
  let status = 500;
  const server = createServer((_, response: ServerResponse) => void response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const { id } = await owner.call<Made>("POST", "/v1/webhooks", {
      url: `http://127.0.0.1:${port}/hooks/on-call`,
      description: ANSWERING,
      events: ["budget.exceeded", "endpoint.down", "topup.disputed"],
    });
    for (status of [500, 200]) {
      const sent = await owner.call<Made>("POST", `/v1/webhooks/${id}/test`);
      await until("a test has ended", async () => {
        const { status: now } = await owner.call<{ status: string }>(
          "GET",
          `/v1/webhooks/${id}/deliveries/${sent.id}`,
        );
        return now !== "pending";
      });
    }
    await owner.call("PATCH", `/v1/webhooks/${id}`, {
      url: `${NOWHERE}/on-call`,
      events: ["topup.disputed"],
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Gives deliveries that were answered what a receiver on the internet would have said: an answer from this machine is not shown, and a
 * demo calls nothing else. The gateway of the folder must be stopped.
 */
export async function answerDeliveries(dataDir: string): Promise<void> {
  const store = openStore(dataDir);
  try {
    const rows = store.table<DeliveryRow>("webhooks.deliveries");
    await store.act(() => {
      for (const { key, value } of [...rows.range({})]) {
        const answer = ANSWERS[value.httpStatus];
        if (answer !== undefined) rows.put(key, { ...value, ...answer });
      }
    });
  } finally {
    await store.close();
  }
}
