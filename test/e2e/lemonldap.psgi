# The portal of LemonLDAP::NG, with people that the tests change in a file.
package NoCaptcha; # The captcha of the package needs ImageMagick. No form here shows one.
use Mouse;
extends 'Lemonldap::NG::Common::Module';
sub init { 1 }
BEGIN { $INC{'NoCaptcha.pm'} = __FILE__ }

package main;
use strict;
use warnings;
use JSON;
use Plack::Builder;
use Lemonldap::NG::Portal::Main;
use Lemonldap::NG::Portal::UserDB::Demo;

my $portal = Lemonldap::NG::Portal::Main->run( {} );

# The package's own directory of people, by login with the groups of each.
sub read_people {
    open my $file, '<', $ENV{LEMONLDAP_PEOPLE} or die "$ENV{LEMONLDAP_PEOPLE}: $!";
    my $people = decode_json( join '', <$file> );
    my ( %accounts, %groups );
    for my $login ( keys %$people ) {
        $accounts{$login} = { uid => $login, cn => $login, mail => "$login\@lemonldap.example" };
        push @{ $groups{$_} }, $login for @{ $people->{$login} };
    }
    %Lemonldap::NG::Portal::UserDB::Demo::demoAccounts = %accounts;
    %Lemonldap::NG::Portal::UserDB::Demo::demoGroups   = %groups;
}

builder {
    enable 'Static', path => sub { s{^/static/}{} }, root => '/usr/share/lemonldap-ng/portal/htdocs/static';
    enable 'Static', path => sub { s{^/javascript/}{} }, root => '/usr/share/javascript', pass_through => 0;
    sub { read_people(); $portal->(@_) };
};
