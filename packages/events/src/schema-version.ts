/** The contract version stamped on every line this package writes. Never compared with anything when reading. */
export const schemaVersion: '0.18.0' = '0.18.0';
