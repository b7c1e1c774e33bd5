// Starts the browser of the tests.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

// The same browser without the windows of a desktop takes about half of the CPU.
const shell = '/usr/bin/chromium-headless-shell';
const executablePath = process.env.CHROMIUM ?? (existsSync(shell) ? shell : '/usr/bin/chromium');

export const launch = () => chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
