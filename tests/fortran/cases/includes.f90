! Include lines: relative to this file, twice, and a variable of that name.
subroutine one
   include 'include/declarations.inc' ! a comment
   integer :: include
   include = 1
end subroutine
subroutine two
   INCLUDE "include/declarations.inc"
end subroutine
