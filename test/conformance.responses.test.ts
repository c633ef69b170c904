/** The conformance cases of the responses format over every upstream dialect. */
import { conformance } from "./conformance.suite.ts";

conformance("responses");
