// LemonLDAP::NG on this machine, an OpenID provider of Debian: with people that the
// tests change, and a directory of its own.
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { base } from './browser.js';

const issuer = process.env.SIMGRAPH_LEMONLDAP;

/** Whether its programs are installed. In CI they are, by scripts/install-test-tools.sh. */
export const installed = (() => {
  try {
    execFileSync('perl', ['-MStarman::Server', '-MIO::String', '-MString::Random', '-MLemonldap::NG::Portal', '-e1'], { stdio: 'pipe' });
    return true;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return false;
  }
})();

const dir = mkdtempSync(join(tmpdir(), 'lemonldap-'));
let server;
process.on('exit', () => {
  server?.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const inDir = (...names) => {
  const made = join(dir, ...names);
  mkdirSync(made, { recursive: true });
  return made;
};
const storage = (name) => ({ Directory: inDir(name), LockDirectory: inDir(name, 'lock'), generateModule: 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256' });

function configure() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writeFileSync(join(inDir('conf'), 'lmConf-1.json'), JSON.stringify({
    cfgNum: 1, cfgVersion: '2.16.1', cfgDate: 1, cfgAuthor: 'tests', portal: `${issuer}/`, domain: 'localhost', cookieName: 'lemonldap', securedCookie: 0, key: 'tests', captcha: 'NoCaptcha',
    authentication: 'Demo', userDB: 'Same', passwordDB: 'Null', registerDB: 'Null', demoExportedVars: { uid: 'uid', cn: 'cn', mail: 'mail' }, exportedVars: {},
    whatToTrace: '_whatToTrace', macros: { _whatToTrace: '$uid' }, groups: {}, locationRules: {}, exportedHeaders: {},
    globalStorage: 'Apache::Session::File', globalStorageOptions: storage('sessions'), persistentStorage: 'Apache::Session::File', persistentStorageOptions: storage('persistent'),
    localSessionStorage: 'Cache::FileCache', localSessionStorageOptions: { namespace: 'sessions', default_expires_in: 600, directory_umask: '007', cache_root: inDir('cache'), cache_depth: 3 },
    issuerDBOpenIDConnectActivation: 1, issuerDBOpenIDConnectPath: '^/oauth2/', issuerDBOpenIDConnectRule: 1, oidcServiceMetaDataIssuer: issuer, oidcServiceAllowAuthorizationCodeFlow: 1,
    oidcServicePrivateKeySig: privateKey, oidcServicePublicKeySig: publicKey, oidcServiceKeyIdSig: 'tests',
    oidcRPMetaDataOptions: {
      simgraph: {
        oidcRPMetaDataOptionsClientID: 'simgraph', oidcRPMetaDataOptionsClientSecret: 'secret-of-the-tests', oidcRPMetaDataOptionsRedirectUris: `${base}/signin/lemonldap/callback`,
        oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256', oidcRPMetaDataOptionsUserIDAttr: 'uid', oidcRPMetaDataOptionsRequirePKCE: 1, oidcRPMetaDataOptionsAllowOffline: 1, oidcRPMetaDataOptionsBypassConsent: 1,
      },
    },
    oidcRPMetaDataExportedVars: { simgraph: { email: 'mail', groups: 'groups;string;auto' } }, oidcRPMetaDataOptionsExtraClaims: { simgraph: { groups: 'groups' } },
  }));
  writeFileSync(join(dir, 'lemonldap-ng.ini'), `[all]
logLevel = error
[configuration]
type = File
dirName = ${inDir('conf')}
localStorage = Cache::FileCache
localStorageOptions = {'namespace' => 'conf', 'default_expires_in' => 600, 'directory_umask' => '007', 'cache_root' => '${inDir('cache')}', 'cache_depth' => 3}
[portal]
staticPrefix = /static
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
`);
}

const people = {};

/** Puts a person, whose password is the login, into groups; removes the person where groups are missing. */
export function know(login, groups) {
  people[login] = groups;
  writeFileSync(join(dir, 'people.new'), JSON.stringify(people));
  renameSync(join(dir, 'people.new'), join(dir, 'people.json')); // it is read at any time
}

function start() {
  server = spawn('starman', ['--listen', `127.0.0.1:${new URL(issuer).port}`, '--workers', '8', '--disable-keepalive', '--preload-app', fileURLToPath(new URL('lemonldap.psgi', import.meta.url))], {
    stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, LLNG_DEFAULTCONFFILE: join(dir, 'lemonldap-ng.ini'), LEMONLDAP_PEOPLE: join(dir, 'people.json') },
  });
}

const hasEnded = () => !server || server.exitCode !== null || server.signalCode !== null;

/** Starts the provider, and waits until it answers. A connection may have its port for a while: it is started again then. */
export async function up() {
  configure();
  for (const until = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    if (hasEnded()) start();
    const answer = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > until) throw new Error('LemonLDAP::NG does not start');
  }
}

/** Stops the provider: it does not answer any more. */
export async function down() {
  if (hasEnded()) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await ended;
}
