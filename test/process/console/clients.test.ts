/** Settings of clients hold what the reader chose, as text of their own language: no key, model or address breaks out of it. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { CLIENTS, type Filled } from "../../../console/pages/setup/clients.ts";

const PLAIN: Filled = { origin: "https://gateway.example.com", key: "svc-live-abc", model: "weir/sim-small" };

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  "%s has the base URL, the key and the model",
  (_, client) => {
    const all = client
      .steps(PLAIN)
      .map(({ text }) => text)
      .join("\n");
    expect(all).toContain("https://gateway.example.com");
    expect(all).toContain("svc-live-abc");
    if (client.id !== "open-webui") expect(all).toContain("weir/sim-small");
  },
);

test("messages clients are given the address without /v1, the others with it", () => {
  for (const { id, steps } of CLIENTS) {
    const all = JSON.stringify(steps(PLAIN));
    expect(all.includes("example.com/v1"), id).toBe(!["claude-code", "anthropic"].includes(id));
  }
});

test("a container reaches its machine by a name that it knows", () => {
  const [step] =
    CLIENTS.find(({ id }) => id === "open-webui")?.steps({ ...PLAIN, origin: "http://127.0.0.1:8787" }) ?? [];
  expect(step?.text).toContain("http://host.docker.internal:8787/v1");
});

test("opencode's settings are JSON with the model's id as a name", () => {
  const [step] = CLIENTS.find(({ id }) => id === "opencode")?.steps({ ...PLAIN, model: 'a/"b' }) ?? [];
  expect(JSON.parse(step?.text ?? "").provider.weir.models).toEqual({ 'a/"b': { name: 'a/"b' } });
});

test("what a shell runs is one word for each value", () => {
  const hostile = "a'; echo broken; '$(echo out)`";
  for (const client of CLIENTS) {
    for (const { title, text } of client.steps({ ...PLAIN, key: hostile, model: hostile })) {
      if (title !== "Run in a shell") continue;
      // The programs themselves are not there: a shell only reads the words.
      const script = text
        .replace(/^(claude|codex|opencode)$/m, "")
        .replace(/^(curl|docker)/, "printf '%s\\n'");
      const { stdout, status } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
      expect(status, client.name).toBe(0);
      expect(stdout.split("\n"), client.name).not.toContain("broken");
      expect(stdout, client.name).not.toMatch(/^out/m);
    }
  }
});
