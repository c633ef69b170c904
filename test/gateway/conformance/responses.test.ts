/** The conformance cases of the responses format over every upstream dialect. */
import { conformance } from "./suite.ts";

conformance("responses");
