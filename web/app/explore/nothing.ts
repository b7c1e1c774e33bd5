// Stands for what the page does without.
export const printers = {};
export const parsers = {};
