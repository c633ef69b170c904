/** The compose file of one gateway: Docker's own tool reads it. */
import { expect, test } from "vitest";
import { missingCommand } from "../../support/debian.ts";
import { composeConfig } from "../../support/deploy/compose.fixtures.ts";
import { deployFile } from "../../support/deploy/fixtures.ts";

const reason = missingCommand("docker-compose", "docker-compose");

const config = (text: string, env: Record<string, string>) => composeConfig("compose.yaml", text, env);

test("docker-compose reads the file without a complaint, and refuses what is misspelled", {
  timeout: 300_000,
}, ({ skip }) => {
  skip(reason !== undefined, reason);
  const text = deployFile("compose.yaml");
  const env = { CLICKHOUSE_PASSWORD: "0123abcd" };
  const read = config(text, env);
  expect([read.status, read.stderr]).toEqual([0, ""]);
  expect(read.stdout).toContain("http://weir:0123abcd@clickhouse:8123/weir");
  for (const [word, wrong] of [
    ["stop_grace_period:", "stop_grace_time:"],
    ["cap_drop: [ALL]", "cap_drop: ALL"],
    ["    read_only: true", "    read_only: [true]"],
    ["      - weir-data:/data", "      - weir-date:/data"],
  ] as const) {
    expect(text).toContain(word);
    expect(config(text.replace(word, wrong), env).status, wrong).not.toBe(0);
  }
});

test("without a password for ClickHouse nothing starts, and the message names the variable", ({ skip }) => {
  skip(reason !== undefined, reason);
  const { status, stderr } = config(deployFile("compose.yaml"), {});
  expect(status).not.toBe(0);
  expect(stderr).toContain("CLICKHOUSE_PASSWORD");
});
