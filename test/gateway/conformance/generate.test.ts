/** The conformance cases of the generate format over every upstream dialect. */
import { conformance } from "./suite.ts";

conformance("generate");
