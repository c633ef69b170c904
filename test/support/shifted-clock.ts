/** Loaded into a gateway's process (`--import`): its wall clock runs ahead by WEIR_TEST_CLOCK_AHEAD_MS. */
const aheadMs = Number(process.env.WEIR_TEST_CLOCK_AHEAD_MS ?? 0);
const trueNow = Date.now.bind(Date);
Date.now = () => trueNow() + aheadMs;
