-- Statements for a superuser, run once when the volume of compose.yaml is created. Latitude's user owns the
-- database and is not a superuser. The container runs this file with psql, as POSTGRES_USER in POSTGRES_DB.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD

create role latitude login password :'password';
-- The role of all statements on the data of organizations.
create role latitude_app nologin;
grant latitude_app to latitude;
alter database :"DBNAME" owner to latitude;

-- Lets searches use their index under row-level security (docs/adr/0003-search-under-row-level-security.md).
alter function pg_catalog.textlike(text, text) leakproof;

-- From now on the superuser can log in only inside the container, over the socket.
alter role :"USER" password null;
