/** `weir start`: starts the gateway, says where it is, and stops it on a signal. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import { FIRST_KEY_FILES } from "../account/first-start.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config.ts";
import { type Gateway, startGateway } from "../gateway/gateway.ts";

/** Resolves with the exit code once the gateway has stopped. @throws Error with lines for the operator. */
export async function start(env: NodeJS.ProcessEnv): Promise<number> {
  const config = readConfig(env);
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const gateway = await startGateway(config, log);
  // Before anybody is told that it is ready: a signal may follow at once.
  const stopped = handleSignals(gateway, log);
  console.log(screen(gateway, config));
  return await stopped;
}

/** One short screen: where, with what key, a line that works when pasted, where to read on. */
function screen(gateway: Gateway, config: Config): string {
  const keyFile = join(config.dataDir, FIRST_KEY_FILES.live);
  const key = existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : "$WEIR_API_KEY";
  const curl = [
    `curl ${gateway.url}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"model": "weir/sim-small", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ];
  return [
    "",
    `  Weir is ready at ${gateway.url}`,
    gateway.first
      ? `  Key: ${key}  ($${config.settings.grant_usd.toFixed(2)} granted; also in ${keyFile})`
      : `  Key: in ${keyFile}`,
    "",
    ...curl.map((line) => `  ${line}`),
    "",
    `  API reference: ${gateway.url}/docs   Guide: README.md`,
    "",
  ].join("\n");
}

function handleSignals(gateway: Gateway, log: Logger): Promise<number> {
  process.on(
    "SIGHUP",
    () => void gateway.reload().catch((err) => log.error({ err }, "the catalog was not read")),
  );
  return stopOnSignals(gateway, log);
}

/** The terminal sends Ctrl-C to the whole group and npm passes it on once more: a repeat this soon is the same one. */
const SAME_SIGNAL_MS = 2000;

/** The first signal drains, a later one means now. */
function stopOnSignals(gateway: Gateway, log: Logger): Promise<number> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const stop = () => {
      const nowMs = systemClock.monotonic();
      if (askedMs !== undefined) {
        if (nowMs - askedMs > SAME_SIGNAL_MS) process.exit(130);
        return;
      }
      askedMs = nowMs;
      gateway.stop().then(
        () => resolve(0),
        (err: unknown) => {
          log.fatal({ err }, "the gateway did not stop cleanly");
          resolve(1);
        },
      );
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
