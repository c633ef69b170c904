/** The conformance cases of the completions format over every upstream dialect. */
import { conformance } from "./suite.ts";

conformance("completions");
