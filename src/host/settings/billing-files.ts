/** Files of the config folder that only billing reads: who sells, and rates of exchange. Read at a start and by `weir check`. */
import { fileErrorText } from "../../base/file-errors.ts";
import { readSupplier, SupplierError, type SupplierFile } from "../../billing/invoices/supplier.ts";
import { type ListedRates, readFxRates } from "../../billing/rates/fx-config.ts";
import { type Config, ConfigError } from "./config.ts";

/** @throws ConfigError where `supplier.yaml` is not valid; undefined where there is none */
export function supplierOf({ configDir }: Pick<Config, "configDir">): SupplierFile | undefined {
  try {
    return readSupplier(configDir);
  } catch (error) {
    throw error instanceof SupplierError ? new ConfigError(error.message) : error;
  }
}

/** Rates of `fx.yaml`. @throws ConfigError with one line per problem */
export function ratesOf({ configDir }: Pick<Config, "configDir">): ListedRates {
  try {
    return readFxRates(configDir);
  } catch (error) {
    throw new ConfigError(fileErrorText(error) ?? (error as Error).message);
  }
}
