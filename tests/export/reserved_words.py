"""Words that databases reserve: names of columns and tables that need quotes somewhere."""

_TEXT = """
abort account action add after all alter always analyse analyze and anti any array as asc asymmetric at
attach authorization autoincrement before begin between bigint binary bit boolean both by cascade case cast
char check clone cluster coalesce collate collation column columns commit concurrently conflict connect
connection constraint create cross cube current current_catalog current_date current_role current_schema
current_time current_timestamp current_user database date dec decimal default deferrable deferred define
delete desc describe detach disc distinct div do double drop each else end enum escape every except exclude
exclusive exists explain extract fail false fetch filter first float following for foreign freeze from full
function generated glob global grant group grouping groups gscluster hash having if ignore ilike immediate
in increment index indexed initially inner insert instead int integer intersect interval into is isnull
issue join key lambda last lateral leading left like limit local localtime localtimestamp lookup macro map
match materialized merge minus national natural new no not nothing notnull null nullif nulls numeric of off
offset old on only or order organization others out outer over overlaps overlay partition percent pivot
placing plan position pragma preceding precision primary proto public qualify query raise range real
recursive references regexp reindex release rename replace respect restrict returning revoke right rlike
rollback rollup row rowid rows sample savepoint schema select semi session_user set setof show similar
smallint some start struct substring summarize symmetric table tablesample temp temporary then ties time
timestamp to trailing transaction treat trigger trim true try_cast unbounded union unique unknown unnest
unpivot update use user using vacuum values varchar variadic verbose view virtual when whenever where window
with within without year zone
"""

WORDS = _TEXT.split()
