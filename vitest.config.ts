/**
 * How the tests run: in child processes, because LMDB, chDB and uWebSockets.js hold state per process that threads
 * would share, and two at a time, because the whole must pass in five minutes on two cores.
 */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Wide enough for real sockets and engines on a busy machine; a test that waits for minutes is a hang.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
  },
});
