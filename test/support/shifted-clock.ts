/**
 * Loaded into a gateway's process (`--import`): its wall clock runs ahead by WEIR_TEST_CLOCK_AHEAD_MS, and by WEIR_TEST_CLOCK_STEP_MS
 * more from each SIGWINCH on, which means nothing to a gateway.
 */
import { isMainThread } from "node:worker_threads";

const stepMs = Number(process.env.WEIR_TEST_CLOCK_STEP_MS ?? 0);
let aheadMs = Number(process.env.WEIR_TEST_CLOCK_AHEAD_MS ?? 0);
const trueNow = Date.now.bind(Date);
Date.now = () => trueNow() + aheadMs;
if (isMainThread && stepMs > 0) {
  process.on("SIGWINCH", () => {
    aheadMs += stepMs;
  });
}
