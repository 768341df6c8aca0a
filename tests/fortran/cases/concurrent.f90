! do concurrent of Fortran 2018 and 2023: localities and reductions.
subroutine loops(a, b, n, s, t, hit)
   implicit none
   integer, intent(in) :: n
   real, intent(inout) :: a(n), b(n, n), s, t
   logical, intent(inout) :: hit
   integer :: i, j, bits
   real :: w, v(3)
   do concurrent (i = 1:n) local(w, v) shared(a, n) default(none)
      w = a(i)
      v = w
      a(i) = sum(v)
   end do
   do concurrent (i = 1:n) local_init(w)
      a(i) = w
   end do
   all: do concurrent (integer(8) :: i = 1:n, j = 1:n:2, i < j) &
      shared(b) ! a comment
      b(i, j) = 0
   end do all
   do concurrent (i = 1:n) reduce(+: s) reduce(max: t) reduce(.or.: hit)
      s = s + a(i)
      t = max(t, a(i))
      hit = hit .or. a(i) > 1
   end do
   bits = 0
   do concurrent (i = 1:n) reduce(ior: bits)
      bits = ior(bits, i)
   end do
end subroutine
