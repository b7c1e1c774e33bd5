/** Reports that are late for longer, in seconds, are marked: they wait in a buffer, or the clock of the network element is late. */
export const lateness = 300;

/** Network elements whose reports are late. */
export const late = { lagSeconds: { gt: String(lateness) } };
