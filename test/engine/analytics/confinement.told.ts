/** Tells how the analysts' process is confined on the system that this runs on. */
import { probeConfinement } from "../../../src/analytics/engine/confinement.ts";

process.stdout.write(JSON.stringify(await probeConfinement("confined")));
